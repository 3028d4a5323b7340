// Can any text make a reader do other than answer or throw InputError? Run it with: ./dev fuzz 60
//
// Every reader gets every input, so that one corpus serves all; what a reader accepts is used as
// the planner would. Crash, sanitizer report, another exception or a hang is a finding.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/training_spec.h"

namespace {

using namespace sluice;

/// Stops the fuzzer where an accepted input breaks a promise of the types.
void require(bool promise) {
    if (!promise) std::abort();
}

template <typename Read>
void try_input(Read read) {
    try {
        read();
    } catch (const InputError& error) {
        require(error.what()[0] != '\0');
    }
}

void use_model(ModelSpec model) {
    require(model.layer_count() >= 1);
    const std::int64_t total = total_parameters(model);
    require(total > 0 && active_parameters(model) <= total);
    require(largest_layer_parameters(model) <= total);
    constexpr TokenBlock kBlock{2, 512, 0};
    for (const LayerSpec& layer : model.kinds) {
        const KernelList forward = forward_kernels(model, layer, kBlock, KernelStyle::fused);
        require(total_flops(forward) > 0);
        require(total_flops(backward_kernels(model, layer, kBlock, KernelStyle::eager)) > 0);
        require(activation_bytes_per_token(model, layer).attention_kept > 0);
    }
    truncate_layers(model, 1);
    require(total_parameters(model) <= total);
}

/// Every measured time, at a shape that was measured and at one far away.
void use_tables(const GpuSpec& gpu) {
    for (int i = 0; i < kKernelTables; ++i) {
        const auto id = static_cast<KernelTableId>(i);
        const KernelTable& table = gpu.tables[static_cast<std::size_t>(i)];
        if (table.empty()) continue;
        std::vector<double> row(kernel_columns(id).size(), 1);
        const Kernel smallest = kernel_of_row(id, row);
        std::fill(row.begin(), row.end(), 4096);
        for (const Kernel& kernel : {smallest, kernel_of_row(id, row)}) {
            const std::vector<double> features = kernel_features(id, kernel, gpu.multiprocessors);
            std::vector<std::vector<double>> places = table.at;
            places.push_back(kernel_coordinates(id, kernel));
            for (const std::vector<double>& at : places) {
                const Seconds time = table.time(features, at);
                require(std::isfinite(time) && time >= 0);
            }
        }
    }
}

/// Every combination of lanes, at amounts of work that were measured, between them and outside.
void use_contention(const Contention& contention) {
    std::vector<double> works = {0, 1e9, 1e15};
    for (const ContentionPoint& point : contention.points()) works.push_back(point.active.work);
    for (const double work : works) {
        for (int lanes = 0; lanes < 8; ++lanes) {
            const LaneShares kept =
                contention.shares({(lanes & 4) != 0, (lanes & 2) != 0, (lanes & 1) != 0, work});
            for (const double share : {kept.compute, kept.in, kept.out, kept.work})
                require(share > 0 && share <= 1.2);
        }
    }
}

void use_machine(const MachineProfile& profile) {
    const MachineSpec machine = resolve_machine(profile);
    const Kernel product = gemm("product", GemmRole::forward, 4096, 4096, 4096);
    require(kernel_time(machine.gpu, product, KernelStyle::fused) > 0);
    require(machine.link.both_ways_total > 0);
    for (const std::int64_t state_bytes : {12, 8, 6})
        require(machine.host.adam_of(state_bytes).at(machine.host.best_adam_threads) > 0);
    for (const double bytes : {1.0, 1e6, 1e12}) {
        const LinkSpec& link = machine.link;
        require(copy_rate(link.host_to_device, link.share_to_device_by_bytes, bytes) > 0);
        require(copy_rate(link.device_to_host, link.share_to_host_by_bytes, bytes) > 0);
    }
    use_tables(machine.gpu);
    use_contention(machine.host.contention);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try_input([&] { use_model(parse_hf_config(text, "config.json")); });
    try_input([&] { use_model(parse_generic_model(text)); });
    try_input([&] { use_machine(parse_machine_profile(text, "machine.json", "machine")); });
    try_input([&] {
        const TrainingSpec spec = parse_training_spec(text, "training.json");
        check_training_spec(spec);
        require(spec.micro_batches() * spec.micro_batch_sequences() == spec.batch);
    });
    return 0;
}
