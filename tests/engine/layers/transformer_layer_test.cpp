#include "engine/layers/transformer_layer.h"

#include "sim/plan/schedules/streamed_kernels.h"
#include "tests/engine/layers/layer_reference.h"
#include "tests/engine/layers/planned_memory.h"

using namespace sluice;

namespace {

/// Weights are exact in bf16, so that fp32 differs by its sums: those of a token, forward and
/// backward, and those of gradients over all tokens. In bf16 each of about ten tensors between
/// input and result is rounded, which dwarfs that.
Tolerance tolerance_of_layer(const LayerCase& c, const LayerSettings& s) {
    if (s.type == DType::bf16) return {2 * kBf16Rounding, 0.1};
    const double sums = fp32_error(3 * terms_of_forward(c.model, c.sequence) +
                                   s.micro_batches * c.sequences * c.sequence);
    return {sums, sums};
}
/// The same, where the result itself is rounded to bf16 once more.
Tolerance tolerance_of_gradient(const LayerCase& c, const LayerSettings& s, DType stored) {
    Tolerance t = tolerance_of_layer(c, s);
    if (stored == DType::bf16) t.relative += kBf16Rounding;
    return t;
}

/// One layer over micro-batches, each compared with the reference as it comes; at the end the
/// weights' gradients.
class LayerCheck {
  public:
    LayerCheck(const LayerCase& c, const LayerSettings& s, Comparison& comparison)
        : case_(c),
          settings_(s),
          comparison_(comparison),
          training_(training_of(c, s)),
          plan_(plan_streamed(c.model, MachineSpec{}, training_)),
          layer_(c.model, c.model.kinds.front(), training_.micro_batch_block(), s.type),
          weights_(random_parameters(layer_.layout())),
          gradients_(sums_gradients(training_) ? DType::fp32 : DType::bf16, layer_.layout().size),
          leaves_(leaves_of(weights_, places_of(layer_.layout()))) {}

    void run() {
        for (std::int64_t j = 0; j < settings_.micro_batches; ++j) micro_batch(j > 0);
        std::int64_t elements = 0;
        for (const auto& [name, place] : places_of(layer_.layout())) {
            elements += place.elements();
            const bool rounded = gradients_.type() == DType::bf16;
            comparison_.check("d" + name + (rounded ? ", stored as bf16" : ""), settings_.type,
                              gradients_.tensor(place), leaves_[name].grad(),
                              tolerance_of_gradient(case_, settings_, gradients_.type()));
        }
        CHECK(gradients_.written() == elements);  // gaps between tensors stay as they were
    }

  private:
    void micro_batch(bool accumulate) {
        const DType type = settings_.type;
        const std::int64_t tokens = training_.micro_batch_block().tokens(),
                           hidden = case_.model.hidden;
        const at::Tensor x = random_matrix(type, tokens, hidden), given = x.clone();
        const at::Tensor y = unwritten(type, {tokens, hidden});
        const at::Tensor gradient = random_matrix(type, tokens, hidden);
        const at::Tensor leaf = leaf_of(x);
        const at::Tensor expected =
            reference_layer(case_.model, training_.micro_batch_block(), leaves_, leaf);
        expected.backward(gradient.to(at::kDouble));

        PlannedMemory kept_memory(plan_, plan_.buffers.kept.front(), type, settings_.micro_batches);
        PlannedMemory forward(plan_, plan_.buffers.forward_workspace, type);
        PlannedMemory backward(plan_, plan_.buffers.backward_workspace, type);
        Workspace keep = kept_memory.workspace();
        const LayerActivations kept = layer_.keep(settings_.recompute, keep);
        layer_.forward(kernels(), weights_.data(), matrix_of(x), matrix_of(y), kept,
                       forward.workspace());
        comparison_.check("y", type, y, expected, tolerance_of_layer(case_, settings_));
        layer_.backward(kernels(), weights_.data(),
                        {gradients_.data(), gradients_.type(), accumulate}, matrix_of(x),
                        matrix_of(gradient), kept, backward.workspace());
        comparison_.check("dx", type, gradient, leaf.grad(), tolerance_of_layer(case_, settings_));
        CHECK(x.equal(given));
        CHECK(kept_memory.guard_untouched());
        CHECK(forward.guard_untouched());
        CHECK(backward.guard_untouched());
    }

    const LayerCase& case_;
    const LayerSettings settings_;
    Comparison& comparison_;
    TrainingSpec training_;
    StreamedPlan plan_;
    TransformerLayer layer_;
    FlatRange weights_, gradients_;
    Leaves leaves_;
};

constexpr Recompute kRecomputes[] = {Recompute::full, Recompute::keep_attention, Recompute::none};

void check_cases(std::int64_t micro_batches, std::int64_t chunk, Comparison& comparison) {
    at::manual_seed(7);
    for (const LayerCase& c : layer_cases()) {
        for (const DType type : kActivationTypes) {
            if (type == DType::bf16 && chooses_experts(c)) continue;
            for (const Recompute recompute : kRecomputes) {
                CAPTURE(c.name, static_cast<int>(recompute), chunk, micro_batches);
                LayerCheck(c, {type, recompute, micro_batches, chunk}, comparison).run();
            }
        }
    }
}

}  // namespace

TEST_CASE("transformer layer: forward and all gradients are those of its formulas in float64",
          "[layers]") {
    Comparison comparison("layer");
    check_cases(1, 0, comparison);
}

TEST_CASE("transformer layer: gradients of two micro-batches add up in fp32", "[layers]") {
    Comparison comparison("layer, two micro-batches");
    check_cases(2, 0, comparison);
}

TEST_CASE("transformer layer: a feed-forward in chunks that do not divide the tokens is the same",
          "[layers]") {
    Comparison comparison("layer, chunks of 4 tokens");
    check_cases(1, 4, comparison);
    check_cases(2, 7, comparison);
}

TEST_CASE("transformer layer: what is kept changes no bit of the results", "[layers]") {
    for (const LayerCase& c : layer_cases()) {
        CAPTURE(c.name);
        const TokenBlock block{c.sequences, c.sequence, 0};
        const TransformerLayer layer(c.model, c.model.kinds.front(), block, DType::fp32);
        const FlatRange weights = random_parameters(layer.layout());
        const at::Tensor x = random_matrix(DType::fp32, block.tokens(), c.model.hidden);
        const at::Tensor dy = random_matrix(DType::fp32, block.tokens(), c.model.hidden);
        std::vector<at::Tensor> dx, dweights;
        for (const Recompute recompute : kRecomputes) {
            std::vector<char> memory(std::size_t{3} << 20), scratch(std::size_t{3} << 20);
            Workspace keep(memory.data(), static_cast<Bytes>(memory.size()));
            const Workspace workspace(scratch.data(), static_cast<Bytes>(scratch.size()));
            const LayerActivations kept = layer.keep(recompute, keep);
            const at::Tensor y = unwritten(DType::fp32, x.sizes()),
                             again = unwritten(DType::fp32, x.sizes());
            const at::Tensor gradient = dy.clone();
            const FlatRange sums(DType::fp32, layer.layout().size);
            layer.forward(kernels(), weights.data(), matrix_of(x), matrix_of(y), kept, workspace);
            layer.forward_again(kernels(), weights.data(), matrix_of(x), matrix_of(again), kept,
                                workspace);
            CHECK(again.equal(y));
            layer.backward(kernels(), weights.data(), {sums.data(), DType::fp32, false},
                           matrix_of(x), matrix_of(gradient), kept, workspace);
            dx.push_back(gradient);
            dweights.push_back(sums.tensor({0, layer.layout().size, 1}));
        }
        for (std::size_t i = 1; i < dx.size(); ++i) {
            CHECK(dx[i].equal(dx[0]));
            CHECK(dweights[i].nan_to_num().equal(dweights[0].nan_to_num()));
        }
    }
}
