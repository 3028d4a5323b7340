#include "engine/run/resident_sections.h"

namespace sluice {

/// Gradients that are held until the norm is known are where other buffers were before, and the
/// norm also reads the gaps between tensors. Most models have none. Sums fill the gaps when they
/// are rounded.
void ResidentSections::begin_gradients(int layer) {
    if (!buffers_.holds_gradient(layer) || buffers_.gradient_sums(layer) != nullptr) return;
    const std::int64_t size = store_.block(layer).count;
    if (size != layer_parameters(model_, model_.layer(layer)))
        device_.kernels().fill_zero(buffers_.gradient_slab(layer), kBf16 * size);
}

/// The head's gradient replaces its weights while it is not resident, in the layout of HeadLoss,
/// which has an output projection even if that is the embedding.
GradientRange ResidentSections::gradient(int section) const {
    if (section < store_.layers())
        return {.bf16 = static_cast<const std::uint16_t*>(buffers_.gradient_slab(section))};
    if (store_.has_adapters() && section == store_.adapters())
        return {.bf16 = static_cast<const std::uint16_t*>(buffers_.adapter_gradient())};
    const auto* const head = static_cast<const std::uint16_t*>(buffers_.head_weights());
    const bool tied = model_.tied_embeddings;
    if (section == store_.head())
        return {.bf16 = head + (tied ? HeadLoss(model_, 1).norm().offset : 0)};
    return {.bf16 = tied ? head : nullptr, .fp32 = buffers_.row_gradients()};
}

void ResidentSections::update(int section, UpdatePass pass, const AdamWStep& step) {
    device_.kernels().adamw(
        {pass, step, has(section) ? store_.block(section) : buffers_.visit(section),
         store_.decay_ranges(section),
         pass == UpdatePass::rewind ? GradientRange() : gradient(section), buffers_.sums()});
}

}  // namespace sluice
