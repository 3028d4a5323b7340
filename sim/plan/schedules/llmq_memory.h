// Which buffers does LLMQ keep? All of them exist during the whole run.
#pragma once

#include "sim/plan/plan_builder.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

enum class MomentPlacement : std::uint8_t { device, host };
/// Tensors that wait on the host in addition to the moments, each with those before it: nothing;
/// masters of layers whose products read FP8 weights; the weights, two layers of which are on the
/// device; the layers' gradients.
enum class Offload : std::uint8_t { none, masters, weights, gradients };
/// Options of llmq alone.
struct LlmqOptions {
    MomentPlacement moments = MomentPlacement::device;  ///< between two steps
    Offload offload = Offload::none;
};

/// Tensors that wait on the host in addition to the moments (see Offload).
struct LlmqOffload {
    explicit LlmqOffload(const TrainingSpec& training);

    bool moments;
    bool masters;  ///< of the layers, apart from the weights that products read
    bool weights;  ///< those too, and the tables; two layers and one table are on the device
    bool gradients;

    /// Bytes of a layer's parameter that wait on the host for its update, without the gradient.
    double state_bytes() const;
};

/// `pass` is one micro-batch. All must outlive the call only.
void declare_llmq_memory(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training, const TrainingSpec& pass,
                         PlanBuilder& build);

}  // namespace sluice
