// Rules for every schedule on machines of every kind: more of a resource never slows a step, and a
// step that fits still fits.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/llmq_memory.h"
#include "sim/plan/schedules/roundpipe_layers.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr double kTolerance = 1.001;
// RoundPipe updates beside the copies of other steps. Copies that come earlier take more of the
// host memory that they share with it, up to 3.8% of a step of 6 small layers.
constexpr double kRoundPipeTolerance = 1.04;

/// A profile with a drive, and a host memory where it has none.
MachineProfile complete_profile(const std::string& machine) {
    MachineProfile profile = read_machine_profile(machine);
    const auto give = [&](const char* path, double value) {
        const Quantity* known = profile.find(path);
        if (known == nullptr || !known->value) profile.set(path, value);
    };
    give("storage.read_gb_per_s", 8);
    give("storage.write_gb_per_s", 4);
    give("storage.latency_us", 100);
    give("storage.capacity_gb", 2000);
    give("host.memory_capacity_gb", 256);
    give("gpu_interconnect.gpus_per_node", 4);
    give("gpu_interconnect.per_direction_gb_per_s", 40);
    give("network.per_gpu_gb_per_s", 20);
    return profile;
}

struct Upgrade {
    const char* path;
    double factor;
};

// Those that a profile does not have are passed over.
constexpr Upgrade kUpgrades[] = {
    {"gpu.bf16_achieved_gemm_tflops", 1.3},
    {"gpu.memory_bandwidth_achieved_gb_per_s", 1.3},
    {"gpu.memory_capacity_gb", 1.3},
    {"kernels.launch_us", 0.7},
    {"kernels.eager_launch_us", 0.7},
    {"link.host_to_device_gb_per_s", 1.3},
    {"link.device_to_host_gb_per_s", 1.3},
    {"link.both_ways_host_to_device_gb_per_s", 1.3},
    {"link.both_ways_device_to_host_gb_per_s", 1.3},
    {"link.raw_per_direction_gb_per_s", 1.3},
    {"link.other.pageable_host_to_device_gb_per_s", 1.3},
    {"link.other.pageable_device_to_host_gb_per_s", 1.3},
    {"host.cores", 1.5},
    {"host.memory_capacity_gb", 1.3},
    {"host.memory_bandwidth_gb_per_s", 1.3},
    {"host.memory_bandwidth_stream_gb_per_s", 1.3},
    {"host.memory_bandwidth_shared_gb_per_s", 1.3},
    {"host.adam_gparams_per_s", 1.3},
    {"host.work.copy_gb_per_s", 1.3},
    {"host.work.scale_gb_per_s", 1.3},
    {"host.work.norm_and_scale_gb_per_s", 1.3},
    {"host.work.bf16_master_adam_gb_per_s", 1.3},
    {"storage.read_gb_per_s", 1.3},
    {"storage.write_gb_per_s", 1.3},
    {"storage.latency_us", 0.5},
    {"storage.capacity_gb", 1.3},
    {"gpu_interconnect.per_direction_gb_per_s", 1.3},
    {"network.per_gpu_gb_per_s", 1.3},
};

struct Settings {
    std::string name;
    TrainingSpec training;
};

/// Every schedule, and where one has kinds, each of them.
std::vector<Settings> all_settings() {
    std::vector<Settings> all;
    const auto add = [&](const char* name, Schedule schedule) -> TrainingSpec& {
        TrainingSpec training;
        training.schedule = schedule;
        training.batch = 8;
        training.sequence = 512;
        return all.emplace_back(Settings{name, training}).training;
    };
    add("streamed", Schedule("streamed"));
    TrainingSpec& exact = add("streamed, exact clipping", Schedule("streamed"));
    exact.clipping = Clipping::exact;
    exact.checkpoints = CheckpointPlacement::host;
    exact.micro_batch = 4;
    add("megatrain", Schedule("megatrain"));
    add("fsdp-offload", Schedule("fsdp-offload"));
    add("fsdp-offload in micro-batches", Schedule("fsdp-offload")).micro_batch = 4;
    add("zero3-offload in micro-batches", Schedule("zero3-offload")).micro_batch = 4;
    add("resident", Schedule("resident"));
    add("llmq", Schedule("llmq"));
    add("llmq, moments on the host", Schedule("llmq")).own.of<LlmqOptions>().moments =
        MomentPlacement::host;
    add("llmq, gradients on the host", Schedule("llmq")).own.of<LlmqOptions>().offload =
        Offload::gradients;
    add("roundpipe", Schedule("roundpipe"));
    add("roundpipe, update at once", Schedule("roundpipe")).own.of<RoundPipeOptions>().update =
        Update::immediate;
    add("zero3-offload", Schedule("zero3-offload"));
    add("zero-infinity", Schedule("zero-infinity")).sub_group_elements = 100'000'000;
    add("superoffload", Schedule("superoffload")).sub_group_elements = 50'000'000;
    add("superoffload, exact clipping", Schedule("superoffload")).clipping = Clipping::exact;
    add("accelerate-offload", Schedule("accelerate-offload"));
    add("accelerate-offload, nothing recomputed", Schedule("accelerate-offload")).recompute =
        Recompute::none;
    for (const auto sharding : {Sharding::full, Sharding::states, Sharding::none}) {
        for (const std::int64_t gpus : {4, 8}) {
            TrainingSpec& training = add("cluster", Schedule("cluster"));
            training.gpus = gpus;
            training.own.of<ClusterOptions>().sharding = sharding;
            training.micro_batch = 1;
            all.back().name =
                fmt::format("cluster of {}, sharding {}", gpus, static_cast<int>(sharding));
        }
    }
    return all;
}

/// Checks each upgrade of a machine with every schedule; returns how many were checked.
int check_upgrades(const ModelSpec& model, const std::string& machine) {
    const MachineProfile profile = complete_profile(machine);
    const MachineSpec before = resolve_machine(profile);
    int checked = 0;
    for (const Settings& settings : all_settings()) {
        TrainingSpec training = settings.training;
        const std::int64_t node = before.interconnect.gpus_per_node;
        if (training.gpus > node && training.gpus % node != 0) continue;
        const Prediction own = predict(model, before, training);
        const double tolerance =
            training.schedule == Schedule("roundpipe") ? kRoundPipeTolerance : kTolerance;
        for (const Upgrade& upgrade : kUpgrades) {
            const Quantity* quantity = profile.find(upgrade.path);
            if (quantity == nullptr || !quantity->value) continue;
            MachineProfile better = profile;
            better.set(upgrade.path, *quantity->value * upgrade.factor);
            const MachineSpec upgraded = resolve_machine(better);
            const Prediction report = predict(model, upgraded, training);
            INFO(model.name << " on " << machine << ", " << settings.name << ", " << upgrade.path
                            << " times " << upgrade.factor);
            CHECK(report.step.seconds <= own.step.seconds * tolerance);
            for (const Fit::OfMemory& one : report.plan.fit.memories)
                CHECK(one.shortfall() <= own.plan.fit.of(one.memory).shortfall());
            ++checked;
        }
    }
    return checked;
}

ModelSpec with_layers(const std::string& name, int layers) {
    ModelSpec model = read_model(name);
    truncate_layers(model, layers);
    return model;
}

std::vector<ModelSpec> models() {
    return {with_layers("qwen2.5-0.5b", 6), with_layers("qwen2.5-14b", 4),
            with_layers("mixtral-8x7b-v0.1", 2)};
}

constexpr const char* kMachines[] = {"h200-sxm-pcie5", "h200-pcie5-16vcpu-128gib", "gh200-480gb",
                                     "rtx-4090", "dgx-spark-gb10"};

}  // namespace

TEST_CASE("all schedules: more of a resource slows none, and shrinks no fit", "[simulate]") {
    for (std::size_t i = 0; i < std::size(kMachines); ++i)
        CHECK(check_upgrades(models()[i % 3], kMachines[i]) > 150);
}

TEST_CASE("all schedules: the same for each model on each machine", "[.][nightly]") {
    for (const ModelSpec& model : models())
        for (const char* const machine : kMachines) CHECK(check_upgrades(model, machine) > 150);
}
