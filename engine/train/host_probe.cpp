#include "engine/train/host_probe.h"

#include <algorithm>
#include <vector>

#include "engine/memory/host_region.h"

namespace sluice {
namespace {

constexpr Seconds kForUpdates = 0.6;
constexpr int kLeastUpdates = 5, kCopies = 5;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::vector<int> layers_on_host(const ParameterStore& store) {
    std::vector<int> out;
    for (int layer = 0; layer < store.layers(); ++layer)
        if (!store.on_device(layer) && store.is_trained(layer)) out.push_back(layer);
    return out;
}

/// Parameters/s. Zeros with zero gradients stay zeros.
double update_rate(const ParameterStore& store, const std::vector<int>& layers,
                   const std::uint16_t* zeros, ThreadPool& pool) {
    const auto update = [&](std::size_t i) {
        const int layer = layers[i % layers.size()];
        const Seconds start = host_seconds();
        adamw(pool, UpdatePass::update, {}, store.block(layer), store.decay_ranges(layer),
              {.bf16 = zeros});
        return static_cast<double>(store.block(layer).count) / (host_seconds() - start);
    };
    update(0);  // wakes the threads
    std::vector<double> rates;
    const Seconds start = host_seconds();
    while (rates.size() < kLeastUpdates || host_seconds() - start < kForUpdates)
        rates.push_back(update(1 + rates.size()));
    return median(std::move(rates));
}

/// Bytes/s.
double copy_rate(Device& device, Work work, void* to, const void* from, Bytes bytes) {
    device.copy(work, to, from, bytes);
    device.create_events(kCopies + 1);
    device.align_clocks();
    device.record(work, 0);
    for (EventId copy = 1; copy <= kCopies; ++copy) {
        device.copy(work, to, from, bytes);
        device.record(work, copy);
    }
    device.synchronize(kCopies);
    std::vector<double> rates;
    for (EventId copy = 1; copy <= kCopies; ++copy)
        rates.push_back(static_cast<double>(bytes) /
                        std::max(device.time_of(copy) - device.time_of(copy - 1), 1e-9));
    return median(std::move(rates));
}

}  // namespace

std::optional<HostRates> probe_host(const ParameterStore& store, const StepBuffers& buffers,
                                    char* gradients, ThreadPool& pool, Device& device,
                                    std::int64_t least) {
    const std::vector<int> layers = layers_on_host(store);
    std::int64_t all = 0, largest = 0;
    for (const int layer : layers) {
        all += store.block(layer).count;
        largest = std::max(largest, store.block(layer).count);
    }
    if (all < least) return std::nullopt;
    HostRegion own;  // where all of these layers' states visit the device
    if (gradients == nullptr) {
        own = HostRegion(kBf16 * largest, "gradients to measure this host with", pool, &device);
        gradients = own.data();
    }
    const int layer = layers.front();
    const Bytes bytes = kBf16 * store.block(layer).count;
    // A slot for codes is half as large as the layer's weights.
    const Bytes arriving = std::min(bytes, buffers.weight_slot_bytes());
    HostRates out;
    out.adam = update_rate(store, layers, reinterpret_cast<std::uint16_t*>(gradients), pool);
    out.host_to_device = copy_rate(device, Work::host_to_device, buffers.weight_slot(layer),
                                   store.block(layer).high, arriving);
    out.device_to_host =
        copy_rate(device, Work::device_to_host, gradients, buffers.gradient_slab(layer), bytes);
    return out;
}

}  // namespace sluice
