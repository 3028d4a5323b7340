#include "tests/engine/run/order_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace sluice {
namespace {

/// Ten of each 480 seeds have the same numbers and are compared with one plain run.
constexpr std::uint64_t kBlock = 480, kGroups = 48;
std::uint64_t group_of(std::uint64_t seed) { return seed / kBlock * kGroups + seed % kGroups; }

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
    const int hidden = state_precision(state_bytes).has_scales() ? 128 : draw.any({16, 20, 32});
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

/// Everything that decides numbers. Buffers are where they are by default, and all is streamed.
TrialSubject plain_subject(std::uint64_t group) {
    Draw draw(group);
    TrialSubject subject;
    TrainingSpec& t = subject.training;
    t.state_bytes = draw.any({12, 12, 8, 8, 6, 5, 4});
    t.clipping = static_cast<Clipping>(draw.below(4));
    t.compute = draw.one_in(6) ? Compute::fp8 : Compute::bf16;
    if (t.compute == Compute::fp8) t.weight_code_layers = draw.any({0, 1, 3});
    t.head_gradients = draw.one_in(6) ? Compute::fp8 : Compute::bf16;
    subject.model = random_model(draw, static_cast<int>(t.state_bytes));
    t.weight_code_layers =
        std::min<std::int64_t>(t.weight_code_layers, subject.model.layer_count());
    t.batch = draw.any({1, 2, 2, 3});
    t.sequence = t.computes_in_fp8() ? 16 : draw.any({3, 4, 5});
    t.micro_batch = draw.one_in(2) ? 0 : 1;
    if (draw.one_in(3)) t.loss_chunk_tokens = t.head_gradients == Compute::fp8 ? 16 : 3;
    if (draw.one_in(3)) t.feed_forward_chunk_tokens = t.compute == Compute::fp8 ? 16 : 2;
    subject.activations = draw.one_in(2) ? DType::bf16 : DType::fp32;
    subject.spoiled = draw.one_in(12);
    subject.clipped = static_cast<unsigned>(draw.below(1 << kTrialSteps));
    subject.ahead = static_cast<unsigned>(draw.below(1 << kTrialSteps));
    subject.evaluated = draw.one_in(3) ? static_cast<unsigned>(draw.below(1 << kTrialSteps)) : 0;
    if (draw.one_in(3)) t.attend_within = AttendWithin::document;
    // Layers then keep as many bytes for backward as their states have.
    if (t.updates_after_norm() && !t.computes_in_fp8() && draw.one_in(2)) t.sequence = 40;
    if (t.clipping != Clipping::speculative && draw.one_in(5)) t.adapter_rank = draw.any({2, 8});
    if (t.adapter_rank > 0 && draw.one_in(2)) t.frozen_weights = Form::nf4;
    if (t.adapter_rank > 0 && draw.one_in(3)) t.adapter_dropout_percent = 25;
    if (t.adapter_rank > 0 && draw.one_in(3)) t.adapter_targets = kQuery | kValue | kDown;
    return subject;
}

}  // namespace

/// The numbers of its group, in any place, with any number of buffers.
TrialSubject trial_subject(std::uint64_t seed) {
    TrialSubject subject = plain_subject(group_of(seed));
    Draw draw(~seed);
    TrainingSpec& t = subject.training;
    const int layers = subject.model.layer_count();
    t.resident_layers = draw.one_in(2) ? 0 : draw.below(layers + 1);
    t.resident_tables = static_cast<ResidentTables>(
        subject.model.tied_embeddings ? 2 * draw.below(2) : draw.below(3));
    t.buffer_depth = 1 + draw.below(4);
    t.gradient_slabs = 1 + draw.below(3);
    t.host_gradient_slabs = draw.below(4);
    t.keep_last_layers = draw.one_in(2) ? 0 : draw.below(layers + 1);
    if (t.clipping != Clipping::exact && draw.one_in(2))
        t.deferred_layers =
            std::min<std::int64_t>(draw.below(layers + 1), layers - t.resident_layers);
    t.recompute = static_cast<Recompute>(draw.below(3));
    t.checkpoints = static_cast<CheckpointPlacement>(draw.below(2));
    const std::int64_t keep_attention = draw.one_in(2) ? 0 : draw.below(layers + 1);
    if (t.recompute == Recompute::full) t.keep_attention_layers = keep_attention;
    if (t.micro_batches() == 1 && draw.one_in(2)) {
        t.saved_inputs = SavedInputs::half;
        t.buffer_depth = 2 + draw.below(3);
    }
    if (t.micro_batches() > 1 && draw.one_in(2)) {
        t.passes = t.micro_batches();
        t.checkpoints = CheckpointPlacement::device;
    }
    t.distinct_tokens = draw.one_in(2) ? 0 : 1 + draw.below(static_cast<int>(t.tokens()));
    if (t.recompute != Recompute::none && !t.saves_half() && draw.one_in(2))
        t.host_kept_layers = draw.below(layers + 1 - static_cast<int>(t.keep_last_layers));
    if (t.compute == Compute::fp8 && draw.one_in(2)) {
        t.stream_weights = Compute::fp8;
        t.weight_code_layers = std::min(t.weight_code_layers, t.resident_layers);
    }
    if (t.updates_after_norm() && !t.streams_codes() && draw.one_in(2))
        t.visiting_layers = draw.below(layers + 1 - static_cast<int>(t.resident_layers));
    if (t.updates_after_norm() && t.state_bytes >= 8 && draw.one_in(2))
        t.late_moment_layers =
            draw.below(layers + 1 - static_cast<int>(t.resident_layers + t.visiting_layers));
    if (t.adapter_rank > 0) t.deferred_layers = t.visiting_layers = t.late_moment_layers = 0;
    if (t.freezes_codes()) t.stream_weights = Compute::bf16, t.weight_code_layers = 0;
    check_training_spec(t);
    return subject;
}

std::string TrialSubject::text() const {
    return fmt::format(
        "--model {} ({}, {} layers in all, {} activations) {}; clipped steps {:b}, "
        "ahead {:b}, evaluated {:b}{}",
        model.name, model.family, model.layer_count(), activations == DType::bf16 ? "bf16" : "fp32",
        setting_flags(changed_settings(TrainingSpec{}, training)), clipped, ahead, evaluated,
        spoiled ? ", a weight is not a number" : "");
}

namespace {

/// Calls use(char*, bytes) for what the tensors' parameters and moments are.
template <class Use>
void each_state(const ParameterStore& store, Use use) {
    const auto part = [&](void* array, std::int64_t from, std::int64_t bytes) {
        use(static_cast<char*>(array) + from, static_cast<std::size_t>(bytes));
    };
    const StatePrecision& precision = state_precision(store.state_bytes());
    const std::int64_t moment = precision.moment_bytes, low = precision.low_bytes;
    for (const NamedTensor& tensor : store.tensors()) {
        const ParameterBlock& block = store.block(tensor.section);
        if (!block.is_trained()) continue;
        const std::int64_t begin = tensor.offset, count = tensor.elements();
        part(block.high, kBf16 * begin, kBf16 * count);
        if (low > 0) part(block.low, low * begin, low * count);
        for (auto* one : {block.first_moment, block.second_moment})
            part(one, moment * begin, moment * count);
        if (block.first_scale == nullptr) continue;
        const std::int64_t first = begin / kMomentBlock, end = (begin + count - 1) / kMomentBlock;
        for (auto* scales : {block.first_scale, block.second_scale})
            part(scales, kFp32 * first, kFp32 * (end + 1 - first));
    }
}

}  // namespace

std::string state_of_tensors(const ParameterStore& store) {
    std::string all;
    each_state(store, [&](const char* data, std::size_t bytes) { all.append(data, bytes); });
    return all;
}

void set_state_of_tensors(ParameterStore& store, const std::string& state) {
    const char* from = state.data();
    each_state(store, [&](char* data, std::size_t bytes) {
        std::memcpy(data, from, bytes);
        from += bytes;
    });
}

StepOutcome TrialSubject::run_step(TinyTraining& tiny, int step) const {
    const auto in_step = [&](unsigned of) { return (of >> step & 1) != 0; };
    return tiny.run(in_step(clipped) ? 0.5 : 1e9, TinyTraining::kLearningRate, {}, in_step(ahead));
}

TrialResult run_subject(const TrialSubject& subject, const TinyStart& start, const AfterStep& after,
                        double clip_factor) {
    TinyStart spoiled = start;
    if (subject.spoiled)
        spoiled.parameters = [](ParameterStore& store) {
            store.block(store.head()).high[1] = 0x7FC0;
        };
    TinyTraining tiny(subject.model, subject.training, subject.activations,
                      static_cast<int>(subject.training.state_bytes), 1000, spoiled);
    TrialResult result;
    tiny.step().set_last_clip_factor(clip_factor);
    for (int step = static_cast<int>(start.steps); step < kTrialSteps; ++step) {
        const StepOutcome outcome = subject.run_step(tiny, step);
        if (!outcome.finite) break;
        result.numbers.insert(result.numbers.end(),
                              {outcome.loss, outcome.gradient_norm, outcome.clip_factor});
        if ((subject.evaluated >> step & 1) != 0) result.numbers.push_back(tiny.evaluate());
        if (!after) continue;
        tiny.finish();
        after(step + 1, outcome.clip_factor, tiny.store());
    }
    tiny.finish();
    result.state = state_of_tensors(tiny.store());
    return result;
}

std::uint64_t same_numbers(std::uint64_t seed) {
    return seed / kBlock * kBlock + (seed + kGroups) % kBlock;
}

const TrialResult& plain_result(std::uint64_t seed) {
    const std::uint64_t group = group_of(seed);
    static std::map<std::uint64_t, TrialResult> known;
    const auto found = known.find(group);
    if (found != known.end()) return found->second;
    return known.emplace(group, run_subject(plain_subject(group))).first->second;
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

TinyStart start_on(const std::shared_ptr<LateDevice>& device) {
    TinyStart start;
    start.device = device;
    start.choose = device->lane_choice();
    start.optimizer_threads = 1;
    return start;
}

std::string run_trial(std::uint64_t seed, const TrialFaults& faults) {
    const TrialSubject subject = trial_subject(seed);
    TinyStart start = start_on(std::make_shared<LateDevice>(seed, faults.device));
    start.change_plan = faults.plan;
    std::string difference;
    try {
        difference = first_difference(run_subject(subject, start), plain_result(seed));
    } catch (const InternalError& error) {
        difference = error.what();
    }
    if (difference.empty()) return "";
    return fmt::format("seed {}: {}; {}; again: SLUICE_TRIAL={} sluice_run_tests \"orders: 300*\"",
                       seed, difference, subject.text(), seed);
}

}  // namespace sluice
