// How much memory do products in FP8 need for codes and scales?
#pragma once

#include "sim/plan/placement.h"

namespace sluice {

/// On the device, scales of a layer's weights, and if they are cast once a step their codes in both
/// orders; 0 without FP8, or if codes arrive.
double fp8_weight_bytes(const ModelSpec& model, const TrainingSpec& training,
                        const Placement& placement, int layer);
/// Operands of products in FP8: the most that layers and loss, which take turns, need.
double fp8_operand_bytes(const ModelSpec& model, const TrainingSpec& training);

}  // namespace sluice
