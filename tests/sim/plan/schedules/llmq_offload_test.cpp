// Which bytes does `--offload` of LLMQ copy and keep? Counted by hand.
#include "sim/plan/schedules/llmq_memory.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/plan/schedules/plan_sums.h"

using namespace sluice;
using test::bytes_of;
using test::link_bytes;

namespace {

// A layer: 4 x 512^2 for attention, 3 x 512 x 1024, two norms: 2,622,464. A table: 1000 x 512.
constexpr double kLlmqLayer = 2'622'464, kLlmqTable = 512'000, kLlmqNorm = 512, kLayersOfLlmq = 4;
constexpr double kLlmqLayers = kLayersOfLlmq * kLlmqLayer,
                 kLlmqAll = kLlmqLayers + 2 * kLlmqTable + kLlmqNorm;

StepPlan llmq_plan(Offload offload, Compute compute) {
    TrainingSpec training;
    training.schedule = Schedule("llmq");
    training.batch = 2;
    training.micro_batch = 1;
    training.sequence = 64;
    training.recompute = Recompute::none;
    training.compute = compute;
    training.own.of<LlmqOptions>().moments = MomentPlacement::host;
    training.own.of<LlmqOptions>().offload = offload;
    return plan_step(parse_generic_model("layers=4,hidden=512,heads=4,intermediate=1024,"
                                         "vocabulary=1000,tied=0"),
                     resolve_machine(read_machine_profile("rtx-4090")), training);
}

Bytes device_peak(const StepPlan& plan) {
    return peak_memory(plan.memory, Tier::device,
                       static_cast<OperationId>(plan.program.operations.size()))
        .bytes;
}

}  // namespace

TEST_CASE("llmq: masters on the host pass the device once a step", "[plan]") {
    const StepPlan plan = llmq_plan(Offload::masters, Compute::fp8);
    CHECK(bytes_of(plan, "bf16 masters of layers") == 2 * kLlmqLayers);
    CHECK(bytes_of(plan, "bf16 parameters") == 2 * (kLlmqAll - kLlmqLayers));
    CHECK(bytes_of(plan, "FP8 weights of layers") == kLlmqLayers);
    // Moments of all, masters of layers.
    CHECK(link_bytes(plan, OperationKind::read_states) == Approx(4 * kLlmqAll + 2 * kLlmqLayers));
    CHECK(link_bytes(plan, OperationKind::write_states) == Approx(4 * kLlmqAll + 2 * kLlmqLayers));
    CHECK(link_bytes(plan, OperationKind::copy_weights_in) == 0);
}

TEST_CASE("llmq: in bf16 the masters are the weights, so offloading them changes nothing",
          "[plan]") {
    const StepPlan plain = llmq_plan(Offload::none, Compute::bf16),
                   masters = llmq_plan(Offload::masters, Compute::bf16);
    CHECK(bytes_of(masters, "bf16 parameters") == 2 * kLlmqAll);
    CHECK(device_peak(masters) == device_peak(plain));
    CHECK(link_bytes(masters, Work::host_to_device) == link_bytes(plain, Work::host_to_device));
}

TEST_CASE("llmq: weights on the host arrive in both passes but for the last two layers", "[plan]") {
    const StepPlan plan = llmq_plan(Offload::weights, Compute::bf16);
    // First micro-batch: 4 layers, then 2 and 3 are still there, so 1 and 0 arrive again;
    // embedding, head, embedding. Second: 0 and 1 are there, so 2, 3, 1, 0; the head alone.
    const double layers = 6 + 4;
    CHECK(link_bytes(plan, OperationKind::copy_weights_in) ==
          Approx(2 * (layers * kLlmqLayer + 2 * kLlmqTable + 2 * (kLlmqTable + kLlmqNorm))));
    CHECK(bytes_of(plan, "weights of two layers") == 2 * 2 * kLlmqLayer);
    CHECK(bytes_of(plan, "a table") == 2 * (kLlmqTable + kLlmqNorm));
    // The kernel that updates the tables reads their masters over the link too.
    CHECK(link_bytes(plan, OperationKind::read_states) == Approx(6 * kLlmqAll));
    // FP8 weights halve the layers, and the update writes them to the host.
    const StepPlan fp8 = llmq_plan(Offload::weights, Compute::fp8);
    CHECK(link_bytes(fp8, OperationKind::copy_weights_in) ==
          Approx(layers * kLlmqLayer + 2 * (2 * kLlmqTable + 2 * (kLlmqTable + kLlmqNorm))));
    CHECK(link_bytes(fp8, OperationKind::write_states) == Approx(6 * kLlmqAll + kLlmqLayers));
}

TEST_CASE("llmq: gradients on the host are added up over the link", "[plan]") {
    const StepPlan plan = llmq_plan(Offload::gradients, Compute::bf16);
    CHECK(bytes_of(plan, "bf16 gradients of layers") == 2 * kLlmqLayers);
    CHECK(bytes_of(plan, "bf16 gradients of two layers") == 2 * 2 * kLlmqLayer);
    CHECK(link_bytes(plan, OperationKind::copy_gradients_out) == 2 * 2 * kLlmqLayers);
    // The second micro-batch reads the sums, and so does the norm; the update reads them with the
    // states.
    CHECK(link_bytes(plan, OperationKind::copy_gradients_in) == 2 * 2 * kLlmqLayers);
    CHECK(link_bytes(plan, OperationKind::read_states) == Approx(6 * kLlmqAll + 2 * kLlmqLayers));
}
