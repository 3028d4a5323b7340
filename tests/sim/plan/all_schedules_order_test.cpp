// In any order that the waits of a plan allow: is a buffer used before it is filled, are parameters
// updated before their gradients are there, or used before they are updated?
#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/llmq_memory.h"
#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/unrolled_plan.h"

using namespace sluice;

namespace {

/// The first to use a buffer fills it: all others come after it.
void find_early_use(const Unrolled& unrolled, const StepPlan& plan, std::set<std::string>& found) {
    const int step = unrolled.count();  // the second of three
    for (int i = 0; i < step; ++i) {
        for (const BufferUse& use : unrolled.operation(i).uses) {
            const BufferId id = use.buffer;
            if (id == kStepOutcome) continue;
            const Buffer& buffer = plan.memory.buffers[static_cast<std::size_t>(id)];
            if (buffer.first == kWholeStep || buffer.first == i) continue;
            if (unrolled.ordered(step + buffer.first, step + i)) continue;
            found.insert(fmt::format("{} may use '{}' before {} has filled it",
                                     operation_name(unrolled.operation(i).kind), buffer.name,
                                     operation_name(unrolled.operation(buffer.first).kind)));
        }
    }
}

/// Updates on the GPU come after all gradients that come back to it or are reduced there.
void find_early_update(const Unrolled& unrolled, std::set<std::string>& found) {
    const auto is_gradient = [](OperationKind kind) {
        return kind == OperationKind::copy_gradients_in || kind == OperationKind::reduce_scatter ||
               kind == OperationKind::all_reduce;
    };
    for (int i = 0; i < unrolled.count(); ++i) {
        const Operation& update = unrolled.operation(i);
        if (update.kind != OperationKind::update || update.lane.work != Work::compute) continue;
        for (int before = 0; before < i; ++before) {
            if (is_gradient(unrolled.operation(before).kind) && !unrolled.ordered(before, i))
                found.insert("an update on the GPU may meet gradients on their way");
        }
    }
}

/// The next step's first work on the GPU comes after all updates of this one.
void find_early_start(const Unrolled& unrolled, std::set<std::string>& found) {
    int first = 0;
    while (unrolled.operation(first).kind != OperationKind::forward) ++first;
    for (int i = 0; i < unrolled.count(); ++i) {
        if (unrolled.operation(i).kind != OperationKind::update) continue;
        if (!unrolled.ordered(i, unrolled.count() + first))
            found.insert("the next step's forward may meet an update");
    }
}

MachineSpec h100_with_storage() {
    MachineProfile profile = read_machine_profile("h100-sxm-pcie5");
    profile.set("storage.read_gb_per_s", 8);
    profile.set("storage.write_gb_per_s", 4);
    return resolve_machine(profile);
}

std::vector<std::pair<std::string, TrainingSpec>> settings() {
    std::vector<std::pair<std::string, TrainingSpec>> all;
    const auto add = [&](const char* name, Schedule schedule) -> TrainingSpec& {
        TrainingSpec training;
        training.schedule = schedule;
        training.batch = 32;
        training.sequence = 64;
        return all.emplace_back(name, training).second;
    };
    add("megatrain", Schedule("megatrain")).own.of<MegaTrainOptions>().checkpoint_interval = 2;
    for (const Fork fork : {Fork::flatten, Fork::store, Fork::views})
        add("megatrain's fork", Schedule("megatrain")).own.of<MegaTrainOptions>().fork = fork;
    for (const Recompute recompute : {Recompute::full, Recompute::none}) {
        add("resident", Schedule("resident")).recompute = recompute;
        add("fsdp-offload", Schedule("fsdp-offload")).recompute = recompute;
        add("accelerate-offload", Schedule("accelerate-offload")).recompute = recompute;
    }
    for (const MomentPlacement moments : {MomentPlacement::device, MomentPlacement::host}) {
        TrainingSpec& training = add("llmq", Schedule("llmq"));
        training.own.of<LlmqOptions>().moments = moments;
        if (moments == MomentPlacement::host) training.checkpoints = CheckpointPlacement::host;
    }
    for (const Offload offload : {Offload::masters, Offload::weights, Offload::gradients}) {
        TrainingSpec& training = add("llmq", Schedule("llmq"));
        training.own.of<LlmqOptions>().offload = offload;
        training.compute = Compute::fp8;
    }
    for (const std::int64_t sub_group : {0, 1'000'000, 30'000'000}) {
        add("zero3-offload", Schedule("zero3-offload")).sub_group_elements = sub_group;
        add("zero-infinity", Schedule("zero-infinity")).sub_group_elements = sub_group;
        for (const std::int64_t percent : {0, 50, 90, 100}) {
            for (const Clipping clipping : {Clipping::off, Clipping::exact}) {
                TrainingSpec& training = add("superoffload", Schedule("superoffload"));
                training.sub_group_elements = sub_group;
                training_option("offload_percent").set(training, static_cast<double>(percent));
                training.clipping = clipping;
            }
        }
    }
    const std::size_t at_once = all.size();
    for (std::size_t i = 0; i < at_once; ++i) {
        all.push_back(all[i]);
        all.back().first += " in micro-batches";
        all.back().second.micro_batch = 16;
    }
    for (const Sharding sharding : {Sharding::full, Sharding::states, Sharding::none}) {
        for (const std::int64_t gpus : {1, 2, 16}) {
            for (const std::int64_t micro_batch : {1, 2}) {
                TrainingSpec& training = add("cluster", Schedule("cluster"));
                training.own.of<ClusterOptions>().sharding = sharding;
                training.gpus = gpus;
                training.micro_batch = micro_batch;
            }
        }
    }
    for (const Sharding sharding : {Sharding::full, Sharding::gradients}) {
        TrainingSpec& training = add("cluster with adapters", Schedule("cluster"));
        training.own.of<ClusterOptions>().sharding = sharding;
        training.gpus = 2;
        training.adapter_rank = 4;
    }
    add("slideformer", Schedule("slideformer"));
    return all;
}

}  // namespace

TEST_CASE(
    "plans: buffers are filled before they are used, updates wait for gradients, steps for updates",
    "[plan]") {
    const MachineSpec h100 = h100_with_storage();
    std::set<std::string> found;
    for (const int layers : {1, 2, 3, 6}) {
        for (const bool tied : {false, true}) {
            // A layer of 235 M: several buckets of gradients, and more than ZeRO-3 prefetches.
            for (const int hidden : {256, 4096}) {
                const ModelSpec model = parse_generic_model(fmt::format(
                    "layers={},hidden={},vocabulary=20000,tied={:d}", layers, hidden, tied));
                for (const auto& [name, training] : settings()) {
                    const StepPlan plan = plan_step(model, h100, training);
                    std::set<std::string> of_plan;
                    const Unrolled unrolled(plan);
                    find_early_use(unrolled, plan, of_plan);
                    find_early_update(unrolled, of_plan);
                    find_early_start(unrolled, of_plan);
                    for (const std::string& one : of_plan) found.insert(name + ": " + one);
                }
            }
        }
    }
    for (const std::string& one : found) UNSCOPED_INFO(one);
    CHECK(found.empty());
}
