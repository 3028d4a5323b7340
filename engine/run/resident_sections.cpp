#include "engine/run/resident_sections.h"

namespace sluice {

void ResidentSections::copy(Lane lane) {
    const bool in = lane == Lane::host_to_device;
    for (int section = 0; section < host_.sections(); ++section) {
        if (!has(section)) continue;
        const ParameterBlock& host = host_.block(section);
        const ParameterBlock& there = buffers_.resident(section);
        const auto one = [&](void* on_device, void* on_host, Bytes bytes) {
            device_.copy(lane, in ? on_device : on_host, in ? on_host : on_device, bytes);
        };
        const Bytes moment = (host.state_bytes - 4) / 2 * host.count;
        one(there.high, host.high, kBf16 * host.count);
        one(there.low, host.low, kBf16 * host.count);
        one(there.first_moment, host.first_moment, moment);
        one(there.second_moment, host.second_moment, moment);
        if (host.state_bytes != 6) continue;
        const Bytes scales = (host.count + kMomentBlock - 1) / kMomentBlock * kFp32;
        one(there.first_scale, host.first_scale, scales);
        one(there.second_scale, host.second_scale, scales);
    }
    device_.finish_all();
}

/// Gradients that are held until the norm is known are where other buffers were before, and the
/// norm also reads the gaps between tensors. Most models have none.
void ResidentSections::begin_gradients(int layer) {
    const std::int64_t size = host_.block(layer).count;
    if (buffers_.holds_gradients() && size != layer_parameters(model_, model_.layer(layer)))
        device_.kernels().fill_zero(buffers_.gradient_slab(layer), kBf16 * size);
}

/// The head's gradient replaces its weights while it is not resident, in the layout of HeadLoss,
/// which has an output projection even if that is the embedding.
GradientRange ResidentSections::gradient(int section) const {
    if (section < host_.layers())
        return {.bf16 = static_cast<const std::uint16_t*>(buffers_.gradient_slab(section))};
    const auto* const head = static_cast<const std::uint16_t*>(buffers_.head_weights());
    const bool tied = model_.tied_embeddings;
    if (section == host_.head())
        return {.bf16 = head + (tied ? HeadLoss(model_, 1).norm().offset : 0)};
    return {.bf16 = tied ? head : nullptr, .fp32 = buffers_.row_gradients()};
}

void ResidentSections::update(int section, UpdatePass pass, const AdamWStep& step) {
    device_.kernels().adamw({pass, step, buffers_.resident(section), host_.decay_ranges(section),
                             gradient(section), buffers_.sums()});
}

void ResidentSections::rewind(int section, const AdamWStep& step) {
    device_.kernels().adamw(
        {UpdatePass::rewind, step, buffers_.resident(section), host_.decay_ranges(section), {}});
}

}  // namespace sluice
