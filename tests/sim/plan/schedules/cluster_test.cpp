// Buffers and collectives of each GPU of a cluster, counted by hand, and settings that are refused.
#include "sim/plan/schedules/cluster.h"

#include <algorithm>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/specs/model/input_error_of.h"

using namespace sluice;

namespace {

constexpr const char* kClusterShape =
    "layers=4,hidden=512,heads=8,kv_heads=2,head_dim=64,intermediate=1024,vocabulary=16000";

TrainingSpec training_of(std::int64_t gpus, Sharding sharding, std::int64_t micro_batch = 0) {
    TrainingSpec training;
    training.schedule = Schedule("cluster");
    training.gpus = gpus;
    training.own.of<ClusterOptions>().sharding = sharding;
    training.batch = 32;
    training.micro_batch = micro_batch;
    training.sequence = 256;
    return training;
}

StepPlan plan_of(const TrainingSpec& training, const char* machine = "h100-sxm-pcie5") {
    return plan_step(parse_generic_model(kClusterShape),
                     resolve_machine(read_machine_profile(machine)), training);
}

/// Bytes that stand on the device all the time, of a kind.
Bytes standing(const StepPlan& plan, MemoryKind kind) {
    Bytes bytes = 0;
    for (const Buffer& buffer : plan.memory.buffers)
        if (buffer.first == kWholeStep && buffer.memory == Tier::device && buffer.kind == kind)
            bytes += buffer.bytes;
    return bytes;
}

double sent(const StepPlan& plan, Collective collective) {
    double bytes = 0;
    for (const Operation& operation : plan.program.operations)
        if (operation.collective == collective) bytes += operation.link_bytes;
    return bytes;
}

double parameters() {
    return static_cast<double>(total_parameters(parse_generic_model(kClusterShape)));
}
double layers() {
    const ModelSpec model = parse_generic_model(kClusterShape);
    return 4.0 * static_cast<double>(layer_parameters(model, model.kinds[0]));
}

std::string refusal(const TrainingSpec& training, const char* machine = "h100-sxm-pcie5") {
    return input_error_of([&] {
        check_training_spec(training);
        plan_of(training, machine);
    });
}

}  // namespace

TEST_CASE("cluster: fully sharded, each GPU has an eighth of fp32 parameters and moments",
          "[plan]") {
    const StepPlan plan = plan_of(training_of(8, Sharding::full));
    CHECK(static_cast<double>(standing(plan, MemoryKind::weights)) ==
          Approx(4 * parameters() / 8).epsilon(1e-6));
    CHECK(static_cast<double>(standing(plan, MemoryKind::optimizer_state)) ==
          Approx(8 * parameters() / 8).epsilon(1e-6));
}

TEST_CASE("cluster: frozen parameters stay in bf16, adapters alone have states and are reduced",
          "[plan]") {
    TrainingSpec training = training_of(8, Sharding::full);
    training.adapter_rank = 4;
    const StepPlan plan = plan_of(training);
    // q, k and v from 512, output, gate and up, down.
    constexpr double kAdapters =
        4.0 * 4 * ((512 + 512) + 2 * (128 + 512) + (512 + 512) + 3 * (1024 + 512));
    CHECK(standing(plan, MemoryKind::weights) ==
          Approx((2 * parameters() + 4 * kAdapters) / 8).epsilon(1e-6));
    CHECK(standing(plan, MemoryKind::optimizer_state) == Approx(8 * kAdapters / 8));
    CHECK(sent(plan, Collective::reduce_scatter) == Approx(4 * kAdapters * 7 / 8));
    CHECK(sent(plan, Collective::all_gather) ==
          Approx(7.0 / 8 * 2 * (parameters() + layers() + 2 * kAdapters)).epsilon(0.05));
}

TEST_CASE("cluster: replicated, 18 bytes a parameter; with states sharded 6 and 12 over n",
          "[plan]") {
    for (const auto& [sharding, states] :
         {std::pair(Sharding::none, 12.0), std::pair(Sharding::states, 12.0 / 8)}) {
        const StepPlan plan = plan_of(training_of(8, sharding));
        const Bytes all = standing(plan, MemoryKind::weights) +
                          standing(plan, MemoryKind::gradients) +
                          standing(plan, MemoryKind::optimizer_state);
        CHECK(static_cast<double>(all) == Approx((6 + states) * parameters()).epsilon(1e-6));
    }
}

TEST_CASE(
    "cluster: sharded, layers are gathered twice, embedding and head once, in bf16; all is "
    "reduced in fp32",
    "[plan]") {
    const StepPlan plan = plan_of(training_of(8, Sharding::full));
    CHECK(sent(plan, Collective::all_gather) == Approx(2 * (parameters() + layers()) * 7 / 8));
    CHECK(sent(plan, Collective::reduce_scatter) == Approx(4 * parameters() * 7 / 8));
    // With two micro-batches twice that.
    const StepPlan two = plan_of(training_of(8, Sharding::full, 2));
    CHECK(sent(two, Collective::all_gather) == Approx(2 * sent(plan, Collective::all_gather)));
    CHECK(sent(two, Collective::reduce_scatter) ==
          Approx(2 * sent(plan, Collective::reduce_scatter)));
}

TEST_CASE("cluster: replicated, gradients are all-reduced once whatever the micro-batches",
          "[plan]") {
    const double once = sent(plan_of(training_of(8, Sharding::none)), Collective::all_reduce);
    CHECK(once == Approx(2 * 4 * parameters() * 7 / 8));
    CHECK(sent(plan_of(training_of(8, Sharding::none, 1)), Collective::all_reduce) == Approx(once));
}

TEST_CASE("cluster: states sharded, gradients are reduce-scattered and parameters gathered",
          "[plan]") {
    const StepPlan plan = plan_of(training_of(8, Sharding::states));
    CHECK(sent(plan, Collective::reduce_scatter) == Approx(4 * parameters() * 7 / 8));
    CHECK(sent(plan, Collective::all_gather) == Approx(2 * parameters() * 7 / 8));
}

TEST_CASE("cluster: ZeRO-2 reduces bf16 gradients in each micro-batch and keeps a shard",
          "[plan]") {
    const StepPlan plan = plan_of(training_of(8, Sharding::gradients));
    CHECK(sent(plan, Collective::reduce_scatter) == Approx(2 * parameters() * 7 / 8));
    CHECK(sent(plan, Collective::all_gather) == Approx(2 * parameters() * 7 / 8));
    CHECK(sent(plan_of(training_of(8, Sharding::gradients, 1)), Collective::reduce_scatter) ==
          Approx(4 * 2 * parameters() * 7 / 8));
    // Whole bf16 parameters; of gradients an eighth in fp32, and two buckets of 5e8 elements.
    CHECK(static_cast<double>(standing(plan, MemoryKind::weights)) == Approx(2 * parameters()));
    CHECK(static_cast<double>(standing(plan, MemoryKind::gradients)) ==
          Approx(4 * parameters() / 8 + 2e9).epsilon(1e-6));
    CHECK(static_cast<double>(standing(plan, MemoryKind::optimizer_state)) ==
          Approx(12 * parameters() / 8).epsilon(1e-6));
}

TEST_CASE("cluster: PyTorch's default Adam needs a list of temporaries", "[plan]") {
    TrainingSpec training = training_of(8, Sharding::full);
    const StepPlan fused = plan_of(training);
    training.adam = AdamKernel::foreach;
    const StepPlan plan = plan_of(training);
    double temporaries = 0;
    for (const Buffer& buffer : plan.memory.buffers)
        if (buffer.name == "temporaries of Adam") temporaries += static_cast<double>(buffer.bytes);
    CHECK(temporaries == Approx(4 * parameters() / 8).epsilon(1e-6));
    // 18 instead of 7 passes over fp32 data, after 2 that scale the gradient.
    const auto traffic = [](const StepPlan& of) {
        const Operation& update = of.program.operations[static_cast<std::size_t>(
            find_operation(of.program, OperationKind::update, kEmbeddingLayer))];
        return total_bytes(
            of.program.kernel_lists[static_cast<std::size_t>(update.kernels.front())]);
    };
    CHECK(traffic(plan) == Approx(traffic(fused) * 20 / 9));
}

TEST_CASE("cluster: the next layer is gathered while this one is worked on", "[plan]") {
    const StepPlan plan = plan_of(training_of(8, Sharding::full));
    const auto& operations = plan.program.operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const Operation& work = operations[i];
        if (work.kind != OperationKind::forward) continue;
        // Its own gather it waits for; the next one's does not wait for it.
        const Operation& own = operations[static_cast<std::size_t>(work.waits_for[0].operation)];
        CHECK(own.kind == OperationKind::all_gather);
        CHECK(own.layer == work.layer);
        for (const Operation& other : operations) {
            if (other.kind != OperationKind::all_gather || other.layer != work.layer + 1) continue;
            CHECK(std::none_of(other.waits_for.begin(), other.waits_for.end(), [&](Dependency d) {
                return !d.previous_step && d.operation == static_cast<OperationId>(i);
            }));
        }
    }
}

TEST_CASE("cluster: each GPU computes its part of the batch", "[plan]") {
    const Flops one = plan_of(training_of(1, Sharding::full)).program.flops();
    CHECK(plan_of(training_of(8, Sharding::full)).program.flops() == Approx(one / 8));
    CHECK(plan_of(training_of(8, Sharding::full, 1)).program.flops() == Approx(one / 8));
}

TEST_CASE("cluster: the head's gradient is in the loss's memory while it is made, once", "[plan]") {
    for (const Sharding sharding : {Sharding::full, Sharding::states, Sharding::none}) {
        const StepPlan plan = plan_of(training_of(2, sharding));
        int seen = 0;
        for (const Operation& operation : plan.program.operations) {
            if (operation.kind != OperationKind::backward || operation.layer != 4) continue;
            ++seen;
            for (const BufferUse& use : operation.uses)
                CHECK(plan.memory.buffers[static_cast<std::size_t>(use.buffer)].kind !=
                      MemoryKind::gradients);
        }
        CHECK(seen == 1);
    }
}

TEST_CASE("cluster: only a tied table's gradient is held for the embedding's", "[plan]") {
    const auto held = [](const char* tied) {
        const StepPlan plan = plan_step(parse_generic_model(kClusterShape + std::string(tied)),
                                        resolve_machine(read_machine_profile("h100-sxm-pcie5")),
                                        training_of(8, Sharding::none));
        return std::count_if(
            plan.memory.buffers.begin(), plan.memory.buffers.end(),
            [](const Buffer& buffer) { return buffer.name == "tied table's gradient"; });
    };
    CHECK(held(",tied=1") == 1);
    CHECK(held(",tied=0") == 0);
}

TEST_CASE("cluster: a batch that GPUs or micro-batches do not divide is refused", "[plan]") {
    CHECK(refusal(training_of(24, Sharding::full)) ==
          "--batch is 32, expected a multiple of --gpus (24), as each GPU takes an equal part of "
          "it; change one of them");
    CHECK(refusal(training_of(8, Sharding::full, 3)) ==
          "--batch is 32, 4 a GPU, expected a multiple of --micro-batch (3), so that all "
          "micro-batches are equal; change one of them");
    CHECK(
        refusal(training_of(8, Sharding::full, 8)) ==
        "--micro-batch is 8, expected at most a GPU's part of the batch of 32 (4); give a divisor "
        "of it");
}

TEST_CASE("cluster: part of a second node, and unknown nodes and links, are refused", "[plan]") {
    TrainingSpec twelve = training_of(12, Sharding::full);
    twelve.batch = 12;
    CHECK(refusal(twelve) ==
          "--gpus is 12, expected at most the 8 GPUs of a node of h100-sxm-pcie5, or whole nodes: "
          "give 8 or 16");
    CHECK(refusal(training_of(2, Sharding::full), "rtx-4090-128gb") ==
          "rtx-4090-128gb: --gpus is 2, but the number of GPUs of a node and the rate between the "
          "GPUs of a node are not known; give them with --set "
          "gpu_interconnect.gpus_per_node=NUMBER --set "
          "gpu_interconnect.per_direction_gb_per_s=NUMBER and, for nodes of fewer than 2 GPUs, "
          "--set network.per_gpu_gb_per_s=NUMBER");
    TrainingSpec sixteen = training_of(16, Sharding::full);
    CHECK(refusal(sixteen, "mi300x") ==
          "mi300x: --gpus is 16, but the rate of the network between its 2 nodes is not known; "
          "give it "
          "with --set network.per_gpu_gb_per_s=NUMBER");
}

TEST_CASE("cluster: other schedules have one GPU", "[plan]") {
    TrainingSpec training;
    training.gpus = 8;
    CHECK(input_error_of([&] { check_training_spec(training); }) ==
          "--gpus is 8, which the schedule streamed does not have; leave it out");
}
