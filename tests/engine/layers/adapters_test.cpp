#include "engine/layers/adapters.h"

#include "sim/plan/schedules/streamed_kernels.h"
#include "sim/specs/model/adapters.h"
#include "tests/engine/layers/layer_reference.h"
#include "tests/engine/layers/planned_memory.h"

using namespace sluice;

namespace {

constexpr std::int64_t kRank = 8;
constexpr float kScale = 1.5F;

struct AdaptedMatrix {
    const char* name;  ///< of places_of()
    MatrixAdapters AdapterLayout::*place;
};
constexpr AdaptedMatrix kMatrices[] = {{"qkv", &AdapterLayout::qkv},
                                       {"output", &AdapterLayout::output},
                                       {"gate_up", &AdapterLayout::gate_up},
                                       {"down", &AdapterLayout::down}};

/// Calls use(name, place) for A and B of all matrices.
template <typename Use>
void each_adapter(const AdapterLayout& layout, Use use) {
    for (const auto& [name, member] : kMatrices) {
        const MatrixAdapters& of = layout.*member;
        if (of.present()) use(std::string(name) + " A", of.a);
        for (std::size_t i = 0; i < of.b.size(); ++i)
            if (of.b[i].rows > 0) use(std::string(name) + " B" + std::to_string(i), of.b[i]);
    }
}

FlatRange random_adapters(const AdapterLayout& layout) {
    FlatRange flat(DType::bf16, layout.size);
    each_adapter(layout, [&](const std::string&, const TensorPlace& place) {
        flat.tensor(place).copy_(at::randn({place.rows, place.columns}, at::kDouble) /
                                 std::sqrt(4 * place.columns));
    });
    return flat;
}

/// The weights W + scale B A of a matrix, whose rows are those of its modules; of those without
/// adapters W.
at::Tensor adapted(const std::string& name, const MatrixAdapters& of, const Leaves& base,
                   const Leaves& adapters) {
    if (!of.present()) return base.at(name);
    std::vector<at::Tensor> rows;
    const at::Tensor& a = adapters.at(name + " A");
    std::int64_t nth = 0;
    for (std::size_t i = 0; i < of.b.size(); ++i)
        if (of.b[i].rows > 0)
            rows.push_back(adapters.at(name + " B" + std::to_string(i))
                               .matmul(a.narrow(0, kRank * nth++, kRank)));
        else if (of.rows[i] > 0)
            rows.push_back(at::zeros({of.rows[i], of.a.columns}, at::kDouble));
    return base.at(name) + kScale * at::cat(rows, 0);
}

TrainingSpec adapted_training(const LayerCase& c, const LayerSettings& s, AdapterTargets targets) {
    TrainingSpec t = training_of(c, s);
    t.adapter_rank = kRank;
    t.adapter_targets = targets;
    return t;
}

/// As of a layer without adapters, whose products have more terms.
Tolerance adapted_tolerance(const LayerCase& c, const LayerSettings& s, DType stored) {
    if (s.type == DType::bf16)
        return {2 * kBf16Rounding + (stored == DType::bf16 ? kBf16Rounding : 0), 0.15};
    const double sums = fp32_error(4 * terms_of_forward(c.model, c.sequence) +
                                   s.micro_batches * c.sequences * c.sequence);
    return {sums + (stored == DType::bf16 ? kBf16Rounding : 0), sums};
}

void check_adapted(const LayerCase& c, const LayerSettings& s, Comparison& comparison,
                   AdapterTargets targets = kAllTargets) {
    const TrainingSpec training = adapted_training(c, s, targets);
    const StreamedPlan plan = plan_streamed(c.model, MachineSpec{}, training);
    const TokenBlock block = training.micro_batch_block();
    const TransformerLayer layer(c.model, c.model.kinds.front(), block, s.type);
    const AdapterLayout layout =
        adapter_layout(c.model, c.model.kinds.front(), training.adapters());
    const FlatRange weights = random_parameters(layer.layout()), adapters = random_adapters(layout);
    const FlatRange gradients(sums_gradients(training) ? DType::fp32 : DType::bf16, layout.size);
    const Leaves frozen = leaves_of(weights, places_of(layer.layout()));
    NamedPlaces places;
    each_adapter(layout, [&](const std::string& name, const TensorPlace& place) {
        places.emplace_back(name, place);
    });
    Leaves trained;
    for (const auto& [name, place] : places)
        trained[name] = leaf_of(adapters.tensor(place).view({place.rows, place.columns}));
    for (std::int64_t j = 0; j < s.micro_batches; ++j) {
        const std::int64_t tokens = block.tokens(), hidden = c.model.hidden;
        const at::Tensor x = random_matrix(s.type, tokens, hidden);
        const at::Tensor y = unwritten(s.type, {tokens, hidden});
        const at::Tensor gradient = random_matrix(s.type, tokens, hidden);
        const at::Tensor leaf = leaf_of(x);
        Leaves all = frozen;
        for (const auto& [name, member] : kMatrices)
            all[name] = adapted(name, layout.*member, frozen, trained);
        const at::Tensor expected = reference_layer(c.model, block, all, leaf);
        expected.backward(gradient.to(at::kDouble));
        PlannedMemory kept_memory(plan, plan.buffers.kept.front(), s.type, s.micro_batches);
        PlannedMemory forward(plan, plan.buffers.forward_workspace, s.type);
        PlannedMemory backward(plan, plan.buffers.backward_workspace, s.type);
        Workspace keep = kept_memory.workspace();
        const LayerActivations kept = layer.keep(s.recompute, keep, 16, &layout);
        const LayerAdapters of{
            &layout, adapters.data(), kScale, {gradients.data(), gradients.type(), j > 0}};
        layer.forward(kernels(), weights.data(), matrix_of(x), matrix_of(y), kept,
                      forward.workspace(), {}, of);
        comparison.check("y", s.type, y, expected, adapted_tolerance(c, s, s.type));
        const at::Tensor again = unwritten(s.type, {tokens, hidden});
        layer.forward_again(kernels(), weights.data(), matrix_of(x), matrix_of(again), kept,
                            backward.workspace(), {}, of);
        CHECK(again.equal(y));
        layer.backward(kernels(), weights.data(), {}, matrix_of(x), matrix_of(gradient), kept,
                       backward.workspace(), {}, of);
        comparison.check("dx", s.type, gradient, leaf.grad(), adapted_tolerance(c, s, s.type));
        CHECK(kept_memory.guard_untouched());
        CHECK(forward.guard_untouched());
        CHECK(backward.guard_untouched());
    }
    for (const auto& [name, place] : places)
        comparison.check("d" + name, s.type,
                         gradients.tensor(place).view({place.rows, place.columns}),
                         trained[name].grad(), adapted_tolerance(c, s, gradients.type()));
    CHECK(gradients.written() == layout.size);
}

void check_adapted_cases(std::int64_t micro_batches, std::int64_t chunk, Comparison& comparison) {
    at::manual_seed(11);
    for (const LayerCase& c : layer_cases()) {
        if (has_experts(c)) continue;
        for (const DType type : kActivationTypes) {
            for (const Recompute recompute :
                 {Recompute::full, Recompute::keep_attention, Recompute::none}) {
                CAPTURE(c.name, static_cast<int>(recompute), chunk, micro_batches);
                check_adapted(c, {type, recompute, micro_batches, chunk}, comparison);
            }
        }
    }
}

}  // namespace

TEST_CASE("adapters: forward and all gradients are those of W + scale B A in float64", "[layers]") {
    Comparison comparison("adapters");
    check_adapted_cases(1, 0, comparison);
}

TEST_CASE("adapters: gradients of micro-batches and of chunks add up in fp32", "[layers]") {
    Comparison comparison("adapters, two micro-batches, chunks of 4");
    check_adapted_cases(2, 0, comparison);
    check_adapted_cases(2, 4, comparison);
}

TEST_CASE("adapters: dropout leaves out the same numbers in forward and in both gradients",
          "[layers]") {
    at::manual_seed(13);
    const LayerCase c = layer_cases().front();
    const AdapterLayout layout = adapter_layout(c.model, c.model.kinds.front(), kRank);
    const FlatRange adapters = random_adapters(layout), gradients(DType::fp32, layout.size);
    const std::int64_t tokens = 24, in = layout.gate_up.a.columns, out = 2 * layout.gate_up.rows[0];
    const at::Tensor x = at::randn({tokens, in}), weight = at::randn({out, in}),
                     dy = at::randn({tokens, out}), y = unwritten(DType::fp32, {tokens, out}),
                     dx = unwritten(DType::fp32, {tokens, in}), mask = at::ones({tokens, in});
    LayerAdapters of{&layout, adapters.data(), kScale, {gradients.data(), DType::fp32, false}};
    of.dropout = {30, 77, 1000};
    const auto adapted_rows = [&](std::int64_t begin, std::int64_t rows) {
        std::vector<char> memory(1 << 20);
        Workspace all(memory.data(), std::ssize(memory));
        const ProductAdapters of_product(of, layout.gate_up, of.take_memory(all, rows, DType::fp32),
                                         {}, begin);
        linear(kernels(), {},
               {matrix_of(y.narrow(0, begin, rows)),
                {matrix_of(x.narrow(0, begin, rows))},
                {matrix_of(weight)},
                {},
                {},
                of_product});
        LinearBackward backward(kernels(), {}, {matrix_of(dy.narrow(0, begin, rows))}, of_product,
                                true);
        backward.weight({}, {matrix_of(x.narrow(0, begin, rows))}, begin > 0);
        backward.input(matrix_of(dx.narrow(0, begin, rows)), {matrix_of(weight)});
    };
    adapted_rows(0, 16);
    adapted_rows(16, 8);
    Dropout same = of.dropout;
    same.seed ^= mixed_bits(static_cast<std::uint64_t>(layout.gate_up.a.offset));
    kernels().dropout(matrix_of(mask), matrix_of(mask), same);
    const double left_out = (mask == 0).to(at::kDouble).mean().item<double>();
    CHECK_THAT(left_out, Catch::Matchers::WithinAbs(0.3, 0.1));
    NamedPlaces places;
    each_adapter(layout, [&](const std::string& name, const TensorPlace& place) {
        places.emplace_back(name, place);
    });
    Leaves trained;
    for (const auto& [name, place] : places)
        trained[name] = leaf_of(adapters.tensor(place).view({place.rows, place.columns}));
    const at::Tensor leaf = leaf_of(x);
    const at::Tensor delta = adapted("gate_up", layout.gate_up,
                                     {{"gate_up", at::zeros({out, in}, at::kDouble)}}, trained);
    const at::Tensor expected =
        leaf.matmul(weight.to(at::kDouble).t()) + (leaf * mask.to(at::kDouble)).matmul(delta.t());
    expected.backward(dy.to(at::kDouble));
    const auto near = [](const at::Tensor& actual, const at::Tensor& wanted) {
        return (actual.to(at::kDouble) - wanted).norm().item<double>() <
               1e-5 * wanted.norm().item<double>();
    };
    CHECK(near(y, expected));
    CHECK(near(dx, leaf.grad()));
    for (const auto& [name, place] : places)
        if (name.starts_with("gate_up"))
            CHECK(near(gradients.tensor(place).view({place.rows, place.columns}),
                       trained[name].grad()));
}

TEST_CASE("adapters: any set of the linear layers has them", "[layers]") {
    Comparison comparison("adapters of some linear layers");
    at::manual_seed(12);
    for (const LayerCase& c : layer_cases())
        for (const AdapterTargets targets : {kQuery | kValue, kKey | kDown, kOutput | kUp,
                                             kGateUp | kDown, kQkv | kGate, +kDown}) {
            if (has_experts(c) && targets != (kQuery | kValue)) continue;
            for (const DType type : kActivationTypes)
                for (const Recompute recompute : {Recompute::full, Recompute::none}) {
                    if (type == DType::bf16 && chooses_experts(c)) continue;
                    CAPTURE(c.name, targets, static_cast<int>(recompute));
                    check_adapted(c, {type, recompute, 1, 0}, comparison, targets);
                }
        }
}

TEST_CASE("adapters: their layout has as many elements as the planner counts", "[layers]") {
    for (const LayerCase& c : layer_cases()) {
        if (has_experts(c)) continue;
        for (const std::int64_t rank : {1, 4, 16})
            for (const AdapterTargets targets : {kAllTargets, kQuery | kValue, kUp | kDown})
                CHECK(adapter_layout(c.model, c.model.kinds.front(), {rank, targets}).size ==
                      adapter_parameters(c.model, c.model.kinds.front(), {rank, targets}));
    }
}
