#include "tests/engine/run/order_trial.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <random>

namespace sluice {
namespace {

/// Draws options; a place's draws do not depend on those of the numbers.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : random_(seed) {}
    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
    bool one_in(int count) { return below(count) == 0; }
    template <class T, std::size_t N>
    T any(const T (&of)[N]) {
        return of[static_cast<std::size_t>(below(static_cast<int>(N)))];
    }

  private:
    std::mt19937_64 random_;
};

ModelSpec random_model(Draw& draw, int state_bytes) {
    // Rows of the table are whole blocks of 8-bit moments.
    const int hidden = state_bytes == 6 ? 128 : draw.any({16, 20, 32});
    ModelSpec model = parse_generic_model(fmt::format(
        "layers={},hidden={},heads=2,kv_heads={},head_dim={},intermediate={},vocabulary={},tied={}",
        1 + draw.below(3), hidden, draw.any({1, 2}), draw.any({6, 8}), draw.any({16, 22}),
        draw.any({13, 37, 61}), draw.below(2)));
    LayerSpec& first = model.kinds.front();
    model.family = draw.any({"llama", "qwen2", "qwen3"});
    first.attention.qkv_bias = model.family == "qwen2";
    first.attention.qk_norm = model.family == "qwen3";
    if (draw.one_in(3)) {
        LayerSpec wider = first;
        wider.feed_forward.intermediate += 9;
        wider.attention.window = 3;
        append_layers(model, wider, 1 + draw.below(2));
    }
    return model;
}

}  // namespace

TrialSubject plain_subject(std::uint64_t group) {
    Draw draw(group);
    TrialSubject subject;
    TrainingSpec& t = subject.training;
    t.state_bytes = draw.any({12, 12, 8, 8, 6});
    t.clipping = static_cast<Clipping>(draw.below(3));
    t.compute = draw.one_in(6) ? Compute::fp8 : Compute::bf16;
    subject.model = random_model(draw, static_cast<int>(t.state_bytes));
    t.batch = draw.any({1, 2, 2, 3});
    t.sequence = t.compute == Compute::fp8 ? 16 : draw.any({3, 4, 5});
    t.micro_batch = draw.one_in(2) ? 0 : 1;
    if (draw.one_in(3)) t.loss_chunk_tokens = 3;
    if (draw.one_in(3)) t.feed_forward_chunk_tokens = t.compute == Compute::fp8 ? 16 : 2;
    subject.activations = draw.one_in(2) ? DType::bf16 : DType::fp32;
    subject.spoiled = draw.one_in(12);
    subject.clipped = static_cast<unsigned>(draw.below(1 << kTrialSteps));
    subject.evaluated = draw.one_in(3) ? static_cast<unsigned>(draw.below(1 << kTrialSteps)) : 0;
    return subject;
}

TrialSubject placed_subject(const TrialSubject& plain, std::uint64_t seed) {
    Draw draw(~seed);
    TrialSubject subject = plain;
    TrainingSpec& t = subject.training;
    const int layers = plain.model.layer_count();
    t.resident_layers = draw.one_in(2) ? 0 : draw.below(layers + 1);
    t.resident_tables = static_cast<ResidentTables>(plain.model.tied_embeddings ? 2 * draw.below(2)
                                                                                : draw.below(3));
    t.buffer_depth = 1 + draw.below(4);
    t.gradient_slabs = 1 + draw.below(3);
    t.host_gradient_slabs = draw.below(4);
    t.keep_last_layers = draw.one_in(2) ? 0 : draw.below(layers + 1);
    t.recompute = static_cast<Recompute>(draw.below(3));
    t.checkpoints = static_cast<CheckpointPlacement>(draw.below(2));
    t.distinct_tokens = draw.one_in(2) ? 0 : 1 + draw.below(static_cast<int>(t.tokens()));
    check_training_spec(t);
    return subject;
}

std::string TrialSubject::text() const {
    return fmt::format(
        "--model {} ({}, {} layers in all, {} activations) {}; clipped steps {:b}, "
        "evaluated {:b}{}",
        model.name, model.family, model.layer_count(), activations == DType::bf16 ? "bf16" : "fp32",
        setting_flags(changed_settings(TrainingSpec{}, training)), clipped, evaluated,
        spoiled ? ", a weight is not a number" : "");
}

namespace {

/// Masters, moments and their scales, without the gaps between tensors, which nobody reads.
std::string state_of_tensors(const ParameterStore& store) {
    std::string all;
    const auto add = [&](const void* array, std::int64_t from, std::int64_t bytes) {
        all.append(static_cast<const char*>(array) + from, static_cast<std::size_t>(bytes));
    };
    const std::int64_t moment = (store.state_bytes() - 4) / 2;
    for (const NamedTensor& tensor : store.tensors()) {
        const ParameterBlock& block = store.block(tensor.section);
        const std::int64_t begin = tensor.offset, count = tensor.elements();
        for (const auto* plane : {block.high, block.low}) add(plane, kBf16 * begin, kBf16 * count);
        for (const auto* one : {block.first_moment, block.second_moment})
            add(one, moment * begin, moment * count);
        if (block.first_scale == nullptr) continue;
        const std::int64_t first = begin / kMomentBlock, end = (begin + count - 1) / kMomentBlock;
        for (const auto* scales : {block.first_scale, block.second_scale})
            add(scales, kFp32 * first, kFp32 * (end + 1 - first));
    }
    return all;
}

}  // namespace

TrialResult run_subject(const TrialSubject& subject, const TinyStart& start) {
    constexpr double kClipped = 0.5, kFree = 1e9;  // norms are above 1 at first
    TinyStart spoiled = start;
    if (subject.spoiled)
        spoiled.parameters = [](ParameterStore& store) { store.block(0).high[1] = 0x7FC0; };
    TinyTraining tiny(subject.model, subject.training, subject.activations,
                      static_cast<int>(subject.training.state_bytes), 1000, spoiled);
    TrialResult result;
    for (int step = 0; step < kTrialSteps; ++step) {
        const StepOutcome outcome = tiny.run((subject.clipped >> step & 1) != 0 ? kClipped : kFree);
        if (!outcome.finite) break;
        result.numbers.insert(result.numbers.end(),
                              {outcome.loss, outcome.gradient_norm, outcome.clip_factor});
        if ((subject.evaluated >> step & 1) != 0) result.numbers.push_back(tiny.evaluate());
    }
    tiny.finish();
    result.state = state_of_tensors(tiny.store());
    return result;
}

const TrialReference& trial_reference(std::uint64_t group) {
    static std::map<std::uint64_t, TrialReference> known;
    const auto found = known.find(group);
    if (found != known.end()) return found->second;
    TrialReference reference;
    reference.subject = plain_subject(group);
    reference.result = run_subject(reference.subject);
    return known.emplace(group, std::move(reference)).first->second;
}

namespace {

std::string first_difference(const TrialResult& result, const TrialResult& expected) {
    for (std::size_t i = 0; i < std::min(result.numbers.size(), expected.numbers.size()); ++i)
        if (result.numbers[i] != expected.numbers[i])
            return fmt::format("number {} of its steps is {}, expected {}", i, result.numbers[i],
                               expected.numbers[i]);
    if (result.numbers.size() != expected.numbers.size()) return "a step was not finite";
    return result.state == expected.state ? "" : "parameters or moments differ at the end";
}

}  // namespace

std::string difference_in_order(const TrialSubject& subject, const TrialReference& expected,
                                std::uint64_t seed, const TrialFaults& faults) {
    const auto device = std::make_shared<LateDevice>(seed, faults.device);
    TinyStart start;
    start.device = device;
    start.choose = device->lane_choice();
    start.change_plan = faults.plan;
    try {
        return first_difference(run_subject(subject, start), expected.result);
    } catch (const InternalError& error) {
        return error.what();
    }
}

std::string run_trial(std::uint64_t seed, const TrialFaults& faults) {
    const TrialReference& expected = trial_reference(seed % kTrialGroups);
    const TrialSubject subject = placed_subject(expected.subject, seed);
    const std::string difference = difference_in_order(subject, expected, seed, faults);
    if (difference.empty()) return "";
    return fmt::format("seed {}: {}; {}; again: SLUICE_TRIAL={} sluice_run_tests \"orders:*\"",
                       seed, difference, subject.text(), seed);
}

}  // namespace sluice
