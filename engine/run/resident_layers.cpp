#include "engine/run/resident_layers.h"

namespace sluice {

void ResidentLayers::copy(Lane lane) {
    const bool in = lane == Lane::host_to_device;
    for (int layer = 0; layer < buffers_.resident_layers(); ++layer) {
        const ParameterBlock& host = host_.block(layer);
        const ParameterBlock& there = buffers_.resident(layer);
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
void ResidentLayers::begin_gradients(int layer) {
    const std::int64_t size = host_.block(layer).count;
    if (buffers_.holds_gradients() && size != layer_parameters(model_, model_.layer(layer)))
        device_.kernels().fill_zero(buffers_.gradient_slab(layer), kBf16 * size);
}

void ResidentLayers::update(int layer, UpdatePass pass, const AdamWStep& step) {
    device_.kernels().adamw({pass, step, buffers_.resident(layer), host_.decay_ranges(layer),
                             static_cast<const std::uint16_t*>(buffers_.gradient_slab(layer)),
                             buffers_.sums()});
}

void ResidentLayers::rewind(int layer, const AdamWStep& step) {
    device_.kernels().adamw(
        {UpdatePass::rewind, step, buffers_.resident(layer), host_.decay_ranges(layer)});
}

}  // namespace sluice
