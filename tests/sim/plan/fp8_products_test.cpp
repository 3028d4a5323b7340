// Plans with products in FP8: their kernels, memory and the machines that refuse them.
#include "sim/plan/fp8_sizes.h"
#include "sim/plan/schedules/streamed_kernels.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/scaled_machine.h"
#include "sim/specs/model/read_model.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

constexpr TokenBlock kBlock = {32, 1024, 0};

KernelList backward(const ProductPrecision& precision) {
    const ModelSpec model = read_model("qwen2.5-7b");
    return backward_kernels(model, model.layer(0), kBlock, KernelStyle::fused, true, precision);
}
KernelList forward(WeightCodes weights, std::int64_t chunk = 0) {
    const ModelSpec model = read_model("qwen2.5-7b");
    return forward_kernels(model, model.layer(0), {32, 1024, chunk}, KernelStyle::fused,
                           {Compute::fp8, weights});
}

TrainingSpec in_fp8() {
    TrainingSpec training;
    training.compute = Compute::fp8;
    return training;
}

MachineSpec machine(const char* name) { return resolve_machine(read_machine_profile(name)); }

}  // namespace

TEST_CASE("fp8: the same FLOPs from half the operands' bytes, and three casts a product less two",
          "[plan]") {
    const KernelList bf16 = backward({}), fp8 = backward({Compute::fp8});
    CHECK(total_flops(fp8) == total_flops(bf16));
    // SwiGLU's backward writes the codes of two tensors itself.
    CHECK(fp8.size() == bf16.size() + 3 * 4 - 2);
    const Kernel plain = gemm("", GemmRole::weight_gradient, 100, 200, 300, 2);
    CHECK(plain.bytes == 2 * 2 * (100 * 300 + 300 * 200 + 100 * 200));
    CHECK(in_fp8(plain).bytes == 2 * (100 * 300 + 300 * 200 + 2 * 100 * 200));
    const Kernel& cast = fp8.front();  // of the gradient of the output, in both orders
    CHECK(cast.bytes == 32768.0 * 3584 * (4.9 + 2.1));
}

TEST_CASE("fp8: SwiGLU's backward reads its input twice and writes codes", "[plan]") {
    const auto bytes = [](std::int64_t bits) {
        return total_bytes(backward({Compute::fp8, WeightCodes::kept, bits}));
    };
    CHECK(bytes(16) > bytes(8));
}

TEST_CASE("fp8: weights are cast for each product, or once a step", "[plan]") {
    // Q, k and v, output, gate and up, down.
    const double weights = 3584.0 * (4608 + 3584 + 37888 + 18944);
    const double kept = total_bytes(forward(WeightCodes::kept));
    const auto added = [&](WeightCodes of) { return (total_bytes(forward(of)) - kept) / weights; };
    CHECK(added(WeightCodes::first) == Approx(2.1 + 3.1));
    CHECK(added(WeightCodes::again) == Approx(3.1));
    CHECK(added(WeightCodes::for_step) == Approx(2.1 + 4.9));

    // Chunks of the feed-forward after the first one know the largest numbers, or have the codes.
    const double chunked = 3584.0 * (37888 + 18944) / weights;
    const auto added_in_chunks = [&](WeightCodes of) {
        const auto bytes = [&](WeightCodes each) { return total_bytes(forward(each, 8192)); };
        return (bytes(of) - bytes(WeightCodes::kept)) / weights;
    };
    CHECK(added_in_chunks(WeightCodes::first) == Approx(2.1 + 3.1 + 3 * 3.1 * chunked));
    CHECK(added_in_chunks(WeightCodes::for_step) == Approx(2.1 + 4.9));

    const ModelSpec model = read_model("qwen2.5-7b");
    TrainingSpec training;
    CHECK(fp8_weight_bytes(model, training, placement_of(model, training), 0) == 0);
    training = in_fp8();
    CHECK(fp8_weight_bytes(model, training, placement_of(model, training), 0) == 4 * 256);
    training.weight_code_layers = 1;
    CHECK(fp8_weight_bytes(model, training, placement_of(model, training), 1) == 4 * 256);
    CHECK(fp8_weight_bytes(model, training, placement_of(model, training), 0) ==
          4 * 256 + 2 * weights);
}

TEST_CASE("fp8: codes arrive in half the bytes, and the optimizer writes them", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    TrainingSpec training = in_fp8();
    training.resident_layers = 20;
    const auto plan_of = [&](Compute form) {
        training.stream_weights = form;
        return plan_streamed(model, machine("h200-sxm-pcie5"), training).step;
    };
    const StepPlan plain = plan_of(Compute::bf16), coded = plan_of(Compute::fp8);
    REQUIRE(plain.program.operations.size() == coded.program.operations.size());
    const double matrices = 3584.0 * (4608 + 3584 + 37888 + 18944), vectors = 2 * 3584 + 4608,
                 layer = 4 * 16 + 2 * vectors + 192 + matrices;  // aligned to 256
    CHECK(weight_form(Form::e4m3).layer_bytes(model, model.layer(27)) == layer);
    int copies = 0;
    for (std::size_t i = 0; i < plain.program.operations.size(); ++i) {
        const Operation &before = plain.program.operations[i], &now = coded.program.operations[i];
        REQUIRE(before.kind == now.kind);
        CHECK(before.waits_for.size() == now.waits_for.size());
        if (now.layer < 20 || now.layer >= 28) {
            CHECK(before.link_bytes == now.link_bytes);
            CHECK(before.host_bytes == now.host_bytes);
        } else if (now.kind == OperationKind::copy_weights_in) {
            ++copies;
            CHECK(before.link_bytes == 2 * (matrices + vectors));
            CHECK(now.link_bytes == layer);
        } else if (now.kind == OperationKind::update) {
            CHECK(before.host_bytes == (matrices + vectors) * 26);
            CHECK(now.host_bytes == (matrices + vectors) * 28);
        }
    }
    CHECK(copies == 8 + 6);  // two are still in slots when backward begins
    const auto peak = [](const StepPlan& plan, Tier tier) {
        return peak_memory(plan.memory, tier,
                           static_cast<OperationId>(plan.program.operations.size()))
            .bytes;
    };
    CHECK(peak(coded, Tier::host) - peak(plain, Tier::host) == static_cast<Bytes>(8 * layer));
    // Two slots, and no scales of 8 layers.
    CHECK(peak(plain, Tier::device) - peak(coded, Tier::device) ==
          static_cast<Bytes>(2 * (2 * (matrices + vectors) - layer) + 8 * 4 * 256));
    const double weights = matrices;
    const double kept = total_bytes(forward(WeightCodes::kept));
    CHECK(total_bytes(forward(WeightCodes::arrive)) == kept);
    const double back = total_bytes(backward({Compute::fp8, WeightCodes::kept, 16}));
    CHECK((total_bytes(backward({Compute::fp8, WeightCodes::arrive, 16})) - back) / weights ==
          Approx(2 * 3.1 / 3));
}

TEST_CASE("fp8: products run at the measured share of their rate", "[plan]") {
    const GpuSpec gpu = machine("h200-pcie5-16vcpu-128gib").gpu;
    CHECK(gpu.fp8_gemm_flops_per_s > 1226e12);
    CHECK(gpu.fp8_gemm_flops_per_s < 1299e12);
    const Kernel plain = gemm("", GemmRole::forward, 32768, 37888, 3584);
    const KernelCost bf16 = kernels_cost(gpu, {plain}, KernelStyle::fused),
                     fp8 = kernels_cost(gpu, {in_fp8(plain)}, KernelStyle::fused);
    CHECK(fp8.at_limit < 0.6 * bf16.at_limit);
    CHECK(fp8.at_limit > 0.5 * bf16.at_limit);
    CHECK(fp8.joules < bf16.joules);

    MachineProfile measured = read_machine_profile("h200-pcie5-16vcpu-128gib");
    Quantity& rate = measured.quantities.emplace_back();
    rate.path = "kernels.fp8_gemm_sustained_tflops";
    rate.value = 1300;
    CHECK(resolve_machine(measured).gpu.fp8_gemm_flops_per_s == Approx(1300e12));

    MachineSpec slower = machine("h200-pcie5-16vcpu-128gib");
    scale_group(slower, RateGroup::kernels, 0.5);
    const KernelCost halved = kernels_cost(slower.gpu, {in_fp8(plain)}, KernelStyle::fused);
    CHECK(halved.at_limit == Approx(2 * fp8.at_limit));
}

TEST_CASE("fp8: a plan has room for the operands of one product", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    TrainingSpec training = in_fp8();
    training.batch = 32;
    // Gate and up: dy (32768, 37888) in both orders. Down: x (32768, 18944), dy (32768, 3584) in
    // both orders, W (18944, 3584).
    CHECK(fp8_operand_bytes(model, training) ==
          32768.0 * (2 * 37888 + 18944) + 32768.0 * 2 * 3584 + 18944.0 * 3584);
}

TEST_CASE("fp8: the loss casts the output projection once, and each chunk's tensors", "[plan]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    TrainingSpec training;
    training.batch = 8;
    training.head_gradients = Compute::fp8;
    // W (152064, 3584), a chunk's hidden states (4096, 3584), and in both orders the gradient of
    // its logits (4096, 152064).
    CHECK(fp8_operand_bytes(model, training) ==
          152064.0 * 3584 + 4096.0 * 3584 + 2 * 4096.0 * 152064);
    PlanBuilder build(KernelStyle::fused);
    const StreamedHeadKernels kernels = declare_head_kernels(model, training, build);
    CHECK(kernels.loss.size() == 1 + 2);
    const KernelList bf16 = loss_kernels(model, {1, 4096}, 4096, KernelStyle::fused),
                     fp8 = loss_kernels(model, {1, 4096}, 4096, KernelStyle::fused, Compute::fp8);
    CHECK(fp8.size() == bf16.size() + 2);
    CHECK(total_flops(fp8) == total_flops(bf16));
}

TEST_CASE("fp8: what cannot have it says so", "[plan]") {
    const auto refusal = [](const char* gpu, const char* model, const TrainingSpec& training) {
        return input_error_of([&] {
            check_training_spec(training);
            plan_step(read_model(model), machine(gpu), training);
        });
    };
    CHECK_THAT(refusal("a100-80gb-sxm", "qwen2.5-7b", in_fp8()),
               ContainsSubstring(
                   "--compute is fp8, but by its profile the GPU of a100-80gb-sxm has no FP8"));
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen3-30b-a3b", in_fp8()), ContainsSubstring("experts"));
    TrainingSpec odd = in_fp8();
    odd.sequence = 1023;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", odd),
               ContainsSubstring("8184 tokens in a micro-batch, expected a multiple of 16"));
    TrainingSpec coded;
    coded.kept_bits = 8;
    CHECK_THAT(
        input_error_of([&] {
            plan_step(parse_generic_model("layers=1,hidden=64,intermediate=100"),
                      machine("h200-sxm-pcie5"), coded);
        }),
        ContainsSubstring("--kept-bits is 8, but a feed-forward") && ContainsSubstring("100 wide"));
    odd = in_fp8();
    odd.feed_forward_chunk_tokens = 100;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", odd),
               ContainsSubstring("--feed-forward-chunk-tokens is 100"));
    TrainingSpec head;
    head.head_gradients = Compute::fp8;
    CHECK_THAT(
        refusal("a100-80gb-sxm", "qwen2.5-7b", head),
        ContainsSubstring("--head-gradients is fp8, but by its profile the GPU of a100-80gb-sxm "
                          "has no FP8 products; leave --head-gradients out"));
    CHECK_THAT(refusal("h200-sxm-pcie5", "gpt2", head), ContainsSubstring("50257 tokens"));
    head.loss_chunk_tokens = 100;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", head),
               ContainsSubstring("--loss-chunk-tokens is 100"));
    TrainingSpec once;
    once.weight_code_layers = 3;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", once),
               ContainsSubstring("--weight-code-layers is 3, expected 0"));
    once = in_fp8();
    once.weight_code_layers = 29;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", once),
               ContainsSubstring("--weight-code-layers is 29, expected at most the layers (28)"));
    TrainingSpec arrive = in_fp8();
    arrive.stream_weights = Compute::fp8;
    arrive.weight_code_layers = 1;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", arrive),
               ContainsSubstring("--weight-code-layers is 1, expected at most --resident-layers "
                                 "0"));
    arrive.weight_code_layers = 0;
    arrive.compute = Compute::bf16;
    CHECK_THAT(refusal("h200-sxm-pcie5", "qwen2.5-7b", arrive),
               ContainsSubstring("--stream-weights is fp8, expected bf16"));
}

}  // namespace sluice
