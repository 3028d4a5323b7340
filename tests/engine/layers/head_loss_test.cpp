#include "engine/layers/head_loss.h"

#include "tests/engine/layers/layer_reference.h"
#include "tests/engine/layers/planned_memory.h"

using namespace sluice;

namespace {

/// A vocabulary that no multiple of a vector divides.
ModelSpec head_model(bool tied) {
    ModelSpec model = parse_generic_model(
        "layers=1,hidden=40,heads=2,kv_heads=2,head_dim=20,intermediate=72,vocabulary=101");
    model.family = "llama";
    model.tied_embeddings = tied;
    return model;
}

/// Every third token has no target where `some_absent`.
std::vector<std::int32_t> random_targets(std::int64_t tokens, std::int64_t vocabulary,
                                         bool some_absent) {
    std::vector<std::int32_t> targets(static_cast<std::size_t>(tokens));
    const at::Tensor ids = at::randint(vocabulary, {tokens}, at::kInt);
    for (std::int64_t i = 0; i < tokens; ++i)
        targets[static_cast<std::size_t>(i)] =
            some_absent && i % 3 == 1 ? -1 : ids[i].item<std::int32_t>();
    return targets;
}

/// Sum of the losses of the tokens that have a target.
at::Tensor reference_loss(const at::Tensor& logits, const std::vector<std::int32_t>& targets) {
    at::Tensor sum = at::zeros({}, at::kDouble);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] < 0) continue;
        const at::Tensor row = logits[static_cast<std::int64_t>(i)];
        sum = sum + row.logsumexp(0) - row[targets[i]];
    }
    return sum;
}

struct HeadSettings {
    DType type, stored;
    std::int64_t tokens, chunk, micro_batches;
    bool tied, some_absent;
};

/// A projection that keeps the size of what it multiplies, a norm near 1.
FlatRange random_head(const HeadLoss& head) {
    const FlatRange weights(DType::bf16, head.elements());
    const at::Tensor projection = weights.tensor(head.projection());
    projection.copy_(at::randn(projection.sizes(), at::kDouble) / std::sqrt(projection.size(1)));
    const at::Tensor norm = weights.tensor(head.norm());
    norm.copy_(1 + 0.2 * at::randn(norm.sizes(), at::kDouble));
    return weights;
}

TrainingSpec loss_training_of(const HeadSettings& s) {
    TrainingSpec training;
    training.batch = s.micro_batches;
    training.micro_batch = 1;
    training.sequence = s.tokens;
    training.loss_chunk_tokens = s.chunk;
    return training;
}

void check_head(const HeadSettings& s, Comparison& comparison) {
    CAPTURE(s.tokens, s.chunk, s.micro_batches, s.tied, s.some_absent);
    const ModelSpec model = head_model(s.tied);
    const StreamedPlan plan = plan_streamed(model, MachineSpec{}, loss_training_of(s));
    const HeadLoss head(model, s.chunk);
    REQUIRE(head.elements() == (model.vocabulary + 1) * model.hidden);
    const FlatRange weights = random_head(head), gradients(s.stored, head.elements());
    const NamedPlaces places = {{"projection", head.projection()}, {"norm", head.norm()}};
    Leaves w = leaves_of(weights, places);
    const float scale = 1.0F / static_cast<float>(s.tokens * s.micro_batches);
    // In bf16 the normed input, the logits and their gradients are rounded.
    const double sums = fp32_error(3 * terms_of_loss(model) + s.micro_batches * s.tokens);
    const Tolerance tolerance =
        s.type == DType::fp32 ? Tolerance{sums, sums} : Tolerance{2 * kBf16Rounding, 0.05};
    Tolerance of_gradient = tolerance;
    if (s.stored == DType::bf16) of_gradient.relative += kBf16Rounding;

    double sum = 0;
    at::Tensor expected_loss = at::zeros({}, at::kDouble);
    for (std::int64_t j = 0; j < s.micro_batches; ++j) {
        const at::Tensor hidden = random_matrix(s.type, s.tokens, model.hidden);
        const auto targets = random_targets(s.tokens, model.vocabulary, s.some_absent);
        const at::Tensor leaf = leaf_of(hidden);
        const at::Tensor logits = reference_norm(leaf, w["norm"], model.norm_epsilon)
                                      .matmul(w["projection"].transpose(0, 1));
        const at::Tensor expected = reference_loss(logits, targets) * scale;
        expected.backward();
        expected_loss += expected.detach();
        PlannedMemory logits_memory(plan, plan.buffers.logits, s.type);
        head.run(kernels(), head.weights_in(weights.data()), matrix_of(hidden), targets.data(),
                 scale, &sum, {gradients.data(), s.stored, j > 0}, logits_memory.workspace());
        CHECK(logits_memory.guard_untouched());
        comparison.check("dhidden", s.type, hidden, leaf.grad(), tolerance);
    }
    comparison.check("loss", s.type, at::scalar_tensor(sum, at::kDouble), expected_loss, tolerance);
    const std::string rounded = s.stored == DType::bf16 ? ", stored as bf16" : "";
    for (const auto& [name, place] : places)
        comparison.check("d" + name + rounded, s.type, gradients.tensor(place), w[name].grad(),
                         of_gradient);
}

}  // namespace

TEST_CASE("head loss: loss and all gradients are those of its formulas in float64", "[layers]") {
    at::manual_seed(11);
    Comparison comparison("head");
    for (const DType type : kActivationTypes) {
        for (const bool some_absent : {false, true}) {
            check_head({type, DType::fp32, 17, 5, 1, false, some_absent}, comparison);
            check_head({type, DType::fp32, 17, 5, 2, true, some_absent}, comparison);
            check_head({type, DType::fp32, 16, 4096, 2, false, some_absent}, comparison);
            check_head({type, DType::bf16, 12, 12, 1, false, some_absent}, comparison);
        }
        check_head({type, DType::fp32, 1, 1, 1, false, false}, comparison);
    }
}

TEST_CASE("head loss: with gradients in FP8 the loss is the same and gradients are near",
          "[layers]") {
    at::manual_seed(12);
    ModelSpec model = head_model(false);
    TrainingSpec training;
    training.batch = 1;
    training.sequence = 96;
    training.loss_chunk_tokens = 32;
    training.head_gradients = Compute::fp8;
    const StreamedPlan plan = plan_streamed(model, MachineSpec{}, training);
    const HeadLoss head(model, training.loss_chunk_tokens);
    const FlatRange weights = random_head(head);
    const at::Tensor given = random_matrix(DType::fp32, 96, model.hidden);
    const auto targets = random_targets(96, model.vocabulary, true);
    const auto run = [&](Workspace operands, double& loss) {
        const FlatRange gradients(DType::fp32, head.elements());
        const at::Tensor hidden = given.clone();
        PlannedMemory logits(plan, plan.buffers.logits, DType::fp32);
        head.run(kernels(), head.weights_in(weights.data()), matrix_of(hidden), targets.data(),
                 1.0F / 96, &loss, {gradients.data(), DType::fp32, false}, logits.workspace(),
                 operands);
        return std::vector<at::Tensor>{hidden, gradients.tensor(head.projection()).clone(),
                                       gradients.tensor(head.norm()).clone()};
    };
    PlannedMemory operands(plan, plan.buffers.fp8_operands, DType::bf16);
    double plain = 0, coded = 0;
    const std::vector<at::Tensor> exact = run({}, plain), near = run(operands.workspace(), coded);
    CHECK(operands.guard_untouched());
    CHECK(coded == plain);
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double error =
            (near[i] - exact[i]).norm().item<double>() / exact[i].norm().item<double>();
        CAPTURE(i, error);
        CHECK(error > 0x1p-8);
        CHECK(error < 0.2);  // of W 2^-4 and of the logits' gradient 2^-3 at most, and its change
    }
}

TEST_CASE("head loss: without a single target there is no loss and no gradient", "[layers]") {
    const ModelSpec model = head_model(false);
    const HeadLoss head(model, 3);
    const FlatRange weights(DType::bf16, head.elements()), sums(DType::fp32, head.elements());
    weights.tensor({0, head.elements(), 1}).copy_(at::randn({head.elements()}));
    const at::Tensor hidden = random_matrix(DType::fp32, 7, model.hidden);
    const std::vector<std::int32_t> targets(7, -1);
    std::vector<char> memory(1 << 16);
    double loss = 2;
    head.run(kernels(), head.weights_in(weights.data()), matrix_of(hidden), targets.data(), 1,
             &loss, {sums.data(), DType::fp32, false},
             {memory.data(), static_cast<Bytes>(memory.size())});
    CHECK(loss == 2);
    CHECK(hidden.abs().max().item<double>() == 0);
    CHECK(sums.tensor(head.projection()).abs().max().item<double>() == 0);
    CHECK(sums.tensor(head.norm()).abs().max().item<double>() == 0);
}
