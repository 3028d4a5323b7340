// How do attention within documents, and a model's limits to it, change a plan?
#include <fmt/format.h>

#include "sim/plan/step_plan.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

MachineSpec one_h200() { return resolve_machine(read_machine_profile("h200-sxm-pcie5")); }

ModelSpec four_layers() {
    return parse_generic_model("layers=4,hidden=512,kv_heads=4,intermediate=1024,vocabulary=1000");
}

TrainingSpec read_spec(const std::string& text) {
    return parse_training_spec(text, "training.json");
}

std::string refusal_of(const std::string& text) {
    return input_error_of([&] { check_training_spec(read_spec(text)); });
}

Flops attention_flops_of(const ModelSpec& model, TokenBlock block) {
    Flops total = 0;
    for (const Kernel& kernel : forward_kernels(model, model.layer(0), block, KernelStyle::fused))
        if (kernel.kind == KernelKind::attention_forward) total += kernel.flops;
    return total;
}

}  // namespace

TEST_CASE("documents: attention within them needs their places", "[plan]") {
    const auto memory = [](AttendWithin within, Tier tier) {
        TrainingSpec spec;
        spec.batch = 4, spec.sequence = 256;
        spec.attend_within = within;
        const StepPlan plan = plan_step(four_layers(), one_h200(), spec);
        return peak_memory(plan.memory, tier,
                           static_cast<OperationId>(plan.program.operations.size()))
            .bytes;
    };
    using Within = AttendWithin;
    // First tokens and the end, int32.
    CHECK(memory(Within::document, Tier::host) - memory(Within::sequence, Tier::host) ==
          4 * (4 * 256 + 1));
    CHECK(memory(Within::document, Tier::device) > memory(Within::sequence, Tier::device));
}

TEST_CASE("documents: attention scores the pairs of each", "[model]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    const auto attention = [&](TokenBlock block) { return attention_flops_of(model, block); };
    CHECK(attention({8, 1024, 0, 0, 1024}) == attention({8, 1024, 0}));
    CHECK(attention({8, 1024, 0, 0, 128}) == attention({64, 128, 0}));
}

TEST_CASE("documents: their length is given where attention stays within them", "[plan]") {
    CHECK(!read_spec("{}").within_documents());
    CHECK_NOTHROW(check_training_spec(
        read_spec(R"({"attend_within": "document", "seq": 512, "document_tokens": 512})")));
    CHECK_THAT(refusal_of(R"({"attend_within": "document", "seq": 512, "document_tokens": 513})"),
               ContainsSubstring("--document-tokens is 513, expected at most --seq 512"));
    CHECK_THAT(refusal_of(R"({"document_tokens": 9})"),
               ContainsSubstring(
                   "--document-tokens is 9, expected 0 where --attend-within is not document"));
}

TEST_CASE("plan inputs: what the model does not allow is refused", "[plan]") {
    const auto refusal = [](TrainingSpec spec, const char* model) {
        return input_error_of([&] { plan_step(parse_generic_model(model), one_h200(), spec); });
    };
    TrainingSpec spec = TrainingSpec();
    for (const int bytes : {6, 5, 4}) {
        spec.state_bytes = bytes;
        CHECK(refusal(spec, "layers=2,hidden=960") ==
              fmt::format("--state-bytes is {}, but the hidden size of "
                          "dense:layers=2,hidden=960 is 960, no multiple of 128; give 8 or 12",
                          bytes));
        CHECK_NOTHROW(plan_step(parse_generic_model("layers=2,hidden=1024"), one_h200(), spec));
    }
    spec = TrainingSpec();
    spec.compute = Compute::fp8;
    spec.weight_code_layers = 3;
    CHECK(refusal(spec, "layers=2,hidden=1024") ==
          "--weight-code-layers is 3, expected at most the layers (2)");
    spec = TrainingSpec();
    spec.schedule = Schedule("cluster");
    spec.adapter_rank = 1025;
    CHECK_THAT(refusal(spec, "layers=2,hidden=1024"),
               ContainsSubstring("--adapter-rank is 1025, expected at most the hidden size"));
}

}  // namespace sluice
