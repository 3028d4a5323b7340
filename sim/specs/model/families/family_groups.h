// Which families are there, by the form of their layers? model_families() has all of them.
#pragma once

#include <span>

#include "sim/specs/model/model_families.h"

namespace sluice {

/// A dense feed-forward in every layer.
std::span<const ModelFamily> dense_families();
/// Experts in some or all layers.
std::span<const ModelFamily> expert_families();
/// Experts, and a bias that corrects the routing.
std::span<const ModelFamily> corrected_families();
/// Multi-head latent attention (arXiv 2405.04434), with experts or without.
std::span<const ModelFamily> latent_families();

}  // namespace sluice
