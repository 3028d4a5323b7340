// Buffers of `resident` and `fsdp-offload`, counted by hand, and the order of their operations.
#include <algorithm>

#include "sim/plan/schedules/pytorch.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

// 4 layers, 8 heads of 64, 2 of them of keys and values; 16,000 words.
constexpr const char* kShape =
    "layers=4,hidden=512,heads=8,kv_heads=2,head_dim=64,intermediate=1024,vocabulary=16000";
constexpr double kTokens = 2 * 256;

TrainingSpec training_of(Schedule schedule, Recompute recompute = Recompute::full) {
    TrainingSpec training;
    training.schedule = schedule;
    training.batch = 2;
    training.sequence = 256;
    training.recompute = recompute;
    return training;
}

StepPlan plan_of(Schedule schedule, const std::string& shape,
                 Recompute recompute = Recompute::full) {
    return plan_step(parse_generic_model(shape),
                     resolve_machine(read_machine_profile("h200-sxm-pcie5")),
                     training_of(schedule, recompute));
}

Peak peak_of(const StepPlan& plan, Tier tier) {
    return peak_memory(plan.memory, tier, static_cast<OperationId>(plan.program.operations.size()));
}

Bytes at(const Peak& peak, MemoryKind kind) { return peak.by_kind[static_cast<std::size_t>(kind)]; }

const Operation& first_of(const StepPlan& plan, OperationKind kind) {
    const auto& operations = plan.program.operations;
    return *std::find_if(operations.begin(), operations.end(),
                         [&](const Operation& o) { return o.kind == kind; });
}

}  // namespace

TEST_CASE("resident: PyTorch's default Adam needs a list of bf16 temporaries", "[plan]") {
    const ModelSpec model = parse_generic_model("layers=2,hidden=512,vocabulary=1000");
    TrainingSpec training;
    training.schedule = Schedule("resident");
    training.adam = AdamKernel::foreach;
    const StepPlan plan =
        plan_step(model, resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
    const auto temporaries =
        std::ranges::find(plan.memory.buffers, "temporaries of Adam", &Buffer::name);
    REQUIRE(temporaries != plan.memory.buffers.end());
    CHECK(temporaries->bytes == 2 * total_parameters(model));
    const OperationId update = find_operation(plan.program, OperationKind::update, kEmbeddingLayer);
    CHECK(temporaries->first == update);
    CHECK(temporaries->last == update);
}

TEST_CASE("resident: at the loss's backward, weights, moments, checkpoints and three fp32 logits",
          "[plan]") {
    const ModelSpec model = parse_generic_model(kShape);
    const Peak peak = peak_of(plan_of(Schedule("resident"), kShape), Tier::device);
    CHECK(at(peak, MemoryKind::weights) == 2 * total_parameters(model));
    CHECK(at(peak, MemoryKind::optimizer_state) == 2 * 2 * total_parameters(model));
    CHECK(at(peak, MemoryKind::checkpoints) == 4 * kTokens * 512 * 2);
    CHECK(at(peak, MemoryKind::loss) == 3 * kTokens * 16000 * 4);
    CHECK(at(peak, MemoryKind::activations) == 2 * kTokens * 512 * 2);
    CHECK(at(peak, MemoryKind::gradients) == 0);  // made when two of the three are freed
    CHECK(at(peak, MemoryKind::workspace) == 2 * 32 * kMiB);
}

TEST_CASE("resident: adapters alone have gradients and moments, logits the loss's form", "[plan]") {
    TrainingSpec training = training_of(Schedule("resident"));
    training.adapter_rank = 4;
    const ModelSpec model = parse_generic_model(kShape);
    const auto peak = [&](LossKernel loss) {
        training.loss = loss;
        return peak_of(
            plan_step(model, resolve_machine(read_machine_profile("h200-sxm-pcie5")), training),
            Tier::device);
    };
    const Peak whole = peak(LossKernel::whole);
    // q, k and v from 512, output, gate and up, down.
    constexpr double kAdapters =
        4.0 * 4 * ((512 + 512) + 2 * (128 + 512) + (512 + 512) + 3 * (1024 + 512));
    CHECK(at(whole, MemoryKind::weights) ==
          Approx(2 * (static_cast<double>(total_parameters(model)) + kAdapters)));
    CHECK(at(whole, MemoryKind::optimizer_state) == Approx(4 * kAdapters));
    CHECK(at(whole, MemoryKind::gradients) == 0);
    CHECK(at(whole, MemoryKind::loss) == Approx(kTokens * 16'000 * 12));
    // bf16 and log-softmax of all, fp32 of an eighth.
    CHECK(at(peak(LossKernel::chunked), MemoryKind::loss) == Approx(kTokens * 16'000 * 6.5));
    // Fused: 16 tokens at a time, so that a layer's backward needs more.
    const Peak fused = peak(LossKernel::fused);
    CHECK(at(fused, MemoryKind::loss) == 0);
    CHECK(fused.bytes < whole.bytes - kTokens * 16'000 * 10);
}

TEST_CASE("resident: without recomputation, each layer keeps what autograd saves", "[plan]") {
    const Peak full = peak_of(plan_of(Schedule("resident"), kShape), Tier::device);
    const Peak none = peak_of(plan_of(Schedule("resident"), kShape, Recompute::none), Tier::device);
    // Three hidden states, q, k, v and the output, four of the feed-forward's, in bf16; a number
    // for each of two norms and eight heads.
    const double token = 2 * (3 * 512 + (512 + 2 * 128) + 512 + 4 * 1024) + 4 * (2 + 8);
    CHECK(at(none, MemoryKind::activations) - at(full, MemoryKind::activations) ==
          4 * token * kTokens);
    const StepPlan plan = plan_of(Schedule("resident"), kShape, Recompute::none);
    const Flops again =
        plan_of(Schedule("resident"), kShape).program.flops() - plan.program.flops();
    CHECK(again == 4 * total_flops(forward_kernels(parse_generic_model(kShape),
                                                   parse_generic_model(kShape).kinds[0],
                                                   {2, 256, 0}, KernelStyle::plain)));
}

TEST_CASE("resident: gradients of a tied table count once when the optimizer runs", "[plan]") {
    for (const bool tied : {false, true}) {
        const std::string shape = std::string(kShape) + (tied ? ",tied=1" : "");
        const ModelSpec model = parse_generic_model(shape);
        const StepPlan plan = plan_of(Schedule("resident"), shape);
        Bytes gradients = 0;
        for (const BufferUse& use : first_of(plan, OperationKind::update).uses)
            gradients += plan.memory.buffers[static_cast<std::size_t>(use.buffer)].bytes;
        CHECK(gradients == 2 * total_parameters(model));
    }
}

TEST_CASE("resident: a micro-batch's activations at a time, its gradients added to the first one's",
          "[plan]") {
    const ModelSpec model = parse_generic_model(kShape);
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    TrainingSpec training = training_of(Schedule("resident"));
    const StepPlan whole = plan_step(model, machine, training);
    training.micro_batch = 1;
    const StepPlan halves = plan_step(model, machine, training);
    const auto backwards = [](const StepPlan& plan) {
        return std::count_if(plan.program.operations.begin(), plan.program.operations.end(),
                             [](const Operation& o) { return o.kind == OperationKind::backward; });
    };
    CHECK(backwards(halves) == 2 * backwards(whole));
    CHECK(halves.program.flops() == whole.program.flops());
    const Peak peak = peak_of(halves, Tier::device);
    // In the second backward: half of the logits and checkpoints, all gradients of the first.
    CHECK(at(peak, MemoryKind::loss) == 3 * kTokens / 2 * 16000 * 4);
    CHECK(at(peak, MemoryKind::checkpoints) == 4 * kTokens / 2 * 512 * 2);
    CHECK(at(peak, MemoryKind::gradients) == 2 * total_parameters(model));
    CHECK(at(peak, MemoryKind::weights) == at(peak_of(whole, Tier::device), MemoryKind::weights));
}

TEST_CASE("resident: all is done on the GPU, nothing crosses the link", "[plan]") {
    for (const Operation& operation : plan_of(Schedule("resident"), kShape).program.operations)
        CHECK(operation.lane.work == Work::compute);
}

TEST_CASE("pinned memory: the next power of two", "[plan]") {
    CHECK(pinned_bytes(1) == 1);
    CHECK(pinned_bytes(4096) == 4096);
    CHECK(pinned_bytes(4097) == 8192);
}

TEST_CASE("pageable memory: tensors above 32 MiB are mapped again while they are copied",
          "[plan]") {
    const std::vector<std::int64_t> tensors = {1 << 20, 16 << 20, (16 << 20) + 1};
    CHECK(freshly_mapped(tensors, 2) == 2 * ((16 << 20) + 1));
    CHECK(freshly_mapped(tensors, 4) == 4 * ((32 << 20) + 1));
    PlanBuilder build(KernelStyle::plain);
    const OperationId before = build.add(OperationKind::backward, Work::compute, 0, {}, {});
    const OperationId last = copy_to_pageable(build, 0, {{before, false}}, copy_operation(100), 60);
    const StepPlan plan = build.finish();
    REQUIRE(last == 2);
    const Operation &kept = plan.program.operations[1], &fresh = plan.program.operations[2];
    CHECK(kept.link_bytes == 40);
    CHECK(kept.pageable);
    CHECK(!kept.to_fresh_pages);
    CHECK(fresh.link_bytes == 60);
    CHECK(fresh.to_fresh_pages);
    CHECK(fresh.waits_for.front().operation == 1);
}

TEST_CASE("plain PyTorch: checkpointing costs host time in addition to the kernels'", "[plan]") {
    const auto host_time = [](Recompute recompute, OperationKind kind) {
        TrainingSpec training;
        training.schedule = Schedule("resident");
        training.recompute = recompute;
        const StepPlan plan =
            plan_step(read_model("qwen2.5-0.5b"),
                      resolve_machine(read_machine_profile("h200-sxm-pcie5")), training);
        for (const Operation& operation : plan.program.operations)
            if (operation.kind == kind && operation.layer == 1) return operation.eager_operations;
        return 0.0;
    };
    // 16 kernels of 6 operations; backward 21 of 9.7.
    CHECK(host_time(Recompute::none, OperationKind::forward) == Approx(16 * 6));
    CHECK(host_time(Recompute::full, OperationKind::forward) == Approx(16 * 6 + 118));
    CHECK(host_time(Recompute::none, OperationKind::backward) == Approx(21 * 9.7));
    CHECK(host_time(Recompute::full, OperationKind::backward) == Approx(21 * 9.7 + 16 * 6 + 149));
}

TEST_CASE("PyTorch modules: q, k, v, gate and up are tensors of their own", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    std::vector<std::int64_t> tensors = module_tensors(model, model.kinds[0]);
    std::sort(tensors.begin(), tensors.end());
    const std::int64_t width = 3584 * 18944;
    CHECK(tensors == std::vector<std::int64_t>{512, 512, 3584, 3584, 3584, 512 * 3584, 512 * 3584,
                                               3584 * 3584, 3584 * 3584, width, width, width});
}

TEST_CASE("fsdp-offload: parameters and gradients pinned in powers of two, moments as they are",
          "[plan]") {
    const ModelSpec model = parse_generic_model(kShape);
    const Peak peak = peak_of(plan_of(Schedule("fsdp-offload"), kShape), Tier::host);
    // fp32: tables of 32.8 MB take 32 MiB each; a layer's two norms, q, k, v, output, gate, up and
    // down.
    const Bytes layer = 2 * 2048 + 1 * kMiB + 2 * kMiB / 4 + 1 * kMiB + 3 * 2 * kMiB;
    const Bytes pinned = 2 * 32 * kMiB + 2048 + 4 * layer;
    CHECK(at(peak, MemoryKind::weights) == pinned);
    CHECK(at(peak, MemoryKind::gradients) == pinned);
    CHECK(at(peak, MemoryKind::optimizer_state) == 8 * total_parameters(model));
}

TEST_CASE(
    "fsdp-offload: fp32 parameters arrive twice, but embedding and head once; gradients leave",
    "[plan]") {
    for (const bool tied : {false, true}) {
        const std::string shape = std::string(kShape) + (tied ? ",tied=1" : "");
        const ModelSpec model = parse_generic_model(shape);
        double in = 0, out = 0;
        for (const Operation& operation :
             plan_of(Schedule("fsdp-offload"), shape).program.operations) {
            (operation.lane.work == Work::host_to_device ? in : out) += operation.link_bytes;
        }
        const double all = 4.0 * static_cast<double>(total_parameters(model));
        const double layers =
            4.0 * 4 * static_cast<double>(layer_parameters(model, model.kinds[0]));
        CHECK(in == all + layers);
        CHECK(out == all);
    }
}

TEST_CASE("fsdp-offload: a layer's copy waits for the work before it, the optimizer for all copies",
          "[plan]") {
    const StepPlan plan = plan_of(Schedule("fsdp-offload"), kShape);
    const auto& operations = plan.program.operations;
    const auto waits_for = [&](const Operation& waiting, OperationKind kind, int layer) {
        return std::any_of(waiting.waits_for.begin(), waiting.waits_for.end(), [&](Dependency d) {
            const Operation& other = operations[static_cast<std::size_t>(d.operation)];
            return other.kind == kind && other.layer == layer;
        });
    };
    bool forward = true;
    for (const Operation& operation : operations) {
        if (operation.kind == OperationKind::loss) forward = false;
        if (operation.kind != OperationKind::copy_weights_in || operation.layer < 1) continue;
        if (forward) CHECK(waits_for(operation, OperationKind::forward, operation.layer - 1));
        if (!forward) CHECK(waits_for(operation, OperationKind::backward, operation.layer + 1));
        // Gradients of the layer after the next have left before its own are joined.
        if (!forward && operation.layer < 2)
            CHECK(waits_for(operation, OperationKind::copy_gradients_out, operation.layer + 2));
    }
    CHECK(waits_for(first_of(plan, OperationKind::clip_gradients),
                    OperationKind::copy_gradients_out, kEmbeddingLayer));
    const Dependency on = first_of(plan, OperationKind::copy_weights_in).waits_for.front();
    CHECK(on.previous_step);
    CHECK(operations[static_cast<std::size_t>(on.operation)].kind == OperationKind::update);
}

TEST_CASE("plain PyTorch schedules: recompute is full or none", "[plan]") {
    for (const Schedule schedule : {Schedule("resident"), Schedule("fsdp-offload")}) {
        CHECK_NOTHROW(check_training_spec(training_of(schedule)));
        CHECK_NOTHROW(check_training_spec(training_of(schedule, Recompute::none)));
        CHECK_THAT(
            input_error_of(
                [&] { check_training_spec(training_of(schedule, Recompute::keep_attention)); }),
            ContainsSubstring("--recompute is keep_attention") && ContainsSubstring("give full"));
        TrainingSpec training = training_of(schedule);
        training.buffer_depth = 3;
        CHECK_THAT(input_error_of([&] { check_training_spec(training); }),
                   ContainsSubstring("--buffer-depth is 3, which the schedule"));
    }
}

}  // namespace sluice
