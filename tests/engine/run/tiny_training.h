// A model small enough to be trained dozens of times, and what a few steps of it make of its state.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/streamed_step.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/engine/rounding.h"

namespace sluice {

/// Five layers with gaps between their tensors. More rows in the table than tokens in a batch.
inline ModelSpec tiny_model(bool tied = false) {
    ModelSpec model = parse_generic_model(
        "layers=5,hidden=40,heads=3,kv_heads=1,head_dim=14,intermediate=52,vocabulary=97");
    model.family = "qwen2";
    model.tied_embeddings = tied;
    model.kinds.front().attention.qkv_bias = true;
    return model;
}

/// Four sequences of eight tokens.
inline TrainingSpec tiny_training() {
    TrainingSpec t;
    t.batch = 4;
    t.sequence = 8;
    return t;
}

/// Parameters other than the initial ones, how many steps they have had, and what a trial changes:
/// the device, the lanes' turns on it, and the plan.
struct TinyStart {
    std::function<void(ParameterStore&)> parameters = {};
    std::int64_t steps = 0;
    std::shared_ptr<Device> device = {};
    LaneChoice choose = {};
    int optimizer_threads = 2;
    std::function<void(StreamedPlan&)> change_plan = {};
};

/// A model, the plan and the step, with what they need to stay alive.
class TinyTraining {
  public:
    TinyTraining(const ModelSpec& model, const TrainingSpec& training, DType type = DType::fp32,
                 int state_bytes = 12, std::int64_t cycle = 1000, const TinyStart& start = {})
        : cycle_(cycle),
          model_(model),
          training_(training),
          plan_(plan_of(start, type, state_bytes)),
          pool_(start.optimizer_threads),
          device_(start.device ? start.device : make_cpu_device(1)),
          planes_(model_, plan_, *device_, pool_),
          buffers_(model_, plan_, planes_),
          store_(model_, planes_.sections(), plan_.homes.resident_sections(),
                 planes_.at(plan_.buffers.host.staging), pool_, *device_, training.adapters(),
                 frozen_coder(model_, plan_, planes_, pool_, *device_)) {
        store_.initialise(3, kDeviation);
        store_.initialise_adapters(3);
        if (start.parameters) start.parameters(store_);
        steps_ = start.steps;
        step_ = std::make_unique<StreamedStep>(model_, plan_, planes_, store_, buffers_, *device_,
                                               pool_, start.choose, kAdapterScale);
    }

    /// The batch of a step is the same in every training; `cycle` batches come in turn.
    StepOutcome run(double max_norm = 1e9, float learning_rate = kLearningRate,
                    const StepLimits& limits = {}, bool ahead = false) {
        const auto now = batch(steps_ % cycle_), next = batch((steps_ + 1) % cycle_);
        AdamWStep adam;
        adam.learning_rate = learning_rate;
        adam.step = ++steps_;
        // Spans of a step are read until the one after it.
        std::array<std::vector<std::int32_t>, 4>& kept =
            tokens_[static_cast<std::size_t>(steps_ % 2)];
        kept = {now, next, targets(now), documents(now)};
        return step_->run({kept[0], kept[2], kept[3]}, {kept[1], {}, {}}, adam, max_norm, limits,
                          ahead);
    }
    /// The loss on the batch of the next step, without training on it.
    double evaluate() {
        const auto now = batch(steps_ % cycle_);
        if (evaluated_[0] != now) evaluated_ = {now, targets(now), documents(now)};
        return step_->evaluate({evaluated_[0], evaluated_[1], evaluated_[2]},
                               {evaluated_[0], {}, {}});
    }
    void finish() { step_->finish(); }
    StreamedStep& step() { return *step_; }
    ParameterStore& store() { return store_; }

    /// Masters and moments of a section as bytes. After finish().
    std::string state(int section) const {
        const ParameterBlock& b = store_.block(section);
        const Bytes moment = b.precision().moment_bytes;
        std::string all;
        const auto add = [&](const void* data, Bytes bytes) {
            all.append(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
        };
        add(b.high, kBf16 * b.count);
        if (b.low != nullptr) add(b.low, b.precision().low_bytes * b.count);
        add(b.first_moment, moment * b.count);
        add(b.second_moment, moment * b.count);
        return all;
    }
    std::string state() const {
        std::string all;
        for (int section = 0; section < store_.sections(); ++section)
            if (store_.is_trained(section)) all += state(section);
        return all;
    }
    /// All masters, without the gaps between tensors.
    std::vector<float> masters() const {
        return values([](const ParameterBlock& b, auto i) { return master_of(b, i); });
    }
    /// Moments of 4 bytes, in the order of masters().
    std::vector<float> first_moments() const {
        return values([](const ParameterBlock& b, auto i) {
            return static_cast<const float*>(b.first_moment)[i];
        });
    }
    std::vector<float> second_moments() const {
        return values([](const ParameterBlock& b, auto i) {
            return static_cast<const float*>(b.second_moment)[i];
        });
    }

    static constexpr float kLearningRate = 0.01F;
    static constexpr float kDeviation = 0.1F;  ///< of matrices' elements at first
    static constexpr float kAdapterScale = 1.5F;

  private:
    StreamedPlan plan_of(const TinyStart& start, DType type, int state_bytes) {
        training_.state_bytes = state_bytes;
        StreamedPlan plan = plan_streamed(model_, MachineSpec{}, training_, ClippedStep::ahead,
                                          type == DType::fp32 ? Form::fp32 : Form::bf16);
        if (start.change_plan) start.change_plan(plan);
        return plan;
    }
    template <class Value>
    std::vector<float> values(Value value) const {
        std::vector<float> all;
        for (const NamedTensor& tensor : store_.tensors()) {
            const ParameterBlock& b = store_.block(tensor.section);
            if (!b.is_trained()) continue;
            for (std::int64_t i = tensor.offset; i < tensor.offset + tensor.elements(); ++i)
                all.push_back(value(b, i));
        }
        return all;
    }
    std::vector<std::int32_t> batch(std::int64_t number) const {
        std::vector<std::int32_t> tokens;
        for (std::int64_t i = 0; i < training_.tokens(); ++i)
            tokens.push_back(
                static_cast<std::int32_t>((i * i + 7 * number + i * number) % model_.vocabulary));
        return tokens;
    }
    static std::vector<std::int32_t> targets(std::vector<std::int32_t> tokens) {
        std::rotate(tokens.begin(), tokens.begin() + 1, tokens.end());
        return tokens;
    }

    /// They begin with tokens that are multiples of 3, and with sequences.
    std::vector<std::int32_t> documents(const std::vector<std::int32_t>& tokens) const {
        std::vector<std::int32_t> begins;
        for (std::int64_t i = 0; i < training_.tokens(); ++i)
            if (i % training_.sequence == 0 || tokens[static_cast<std::size_t>(i)] % 3 == 0)
                begins.push_back(static_cast<std::int32_t>(i));
        return begins;
    }

    std::int64_t cycle_;
    ModelSpec model_;
    TrainingSpec training_;
    StreamedPlan plan_;
    ThreadPool pool_;
    std::shared_ptr<Device> device_;
    PlaneStore planes_;
    StepBuffers buffers_;
    ParameterStore store_;
    std::array<std::array<std::vector<std::int32_t>, 4>, 2> tokens_;
    std::array<std::vector<std::int32_t>, 3> evaluated_;
    std::int64_t steps_ = 0;
    std::unique_ptr<StreamedStep> step_;  // last: its threads use all of the above
};

/// Masters that differ little may round to neighbours in bf16. If all weights did so in random
/// directions, the loss would move by that share of their size times the gradient's norm.
inline double tolerance_of_rounded_weights(const StepOutcome& outcome) {
    return kBf16Rounding * double{TinyTraining::kDeviation} * outcome.gradient_norm;
}

/// The results of a few steps.
struct TinyResult {
    std::vector<double> losses, norms;
    std::string state;
    std::vector<float> masters;
};

inline TinyResult train(const ModelSpec& model, const TrainingSpec& training, int steps = 4,
                        double max_norm = 1e9) {
    TinyTraining tiny(model, training);
    TinyResult result;
    for (int i = 0; i < steps; ++i) {
        const StepOutcome outcome = tiny.run(max_norm);
        CHECK(outcome.finite);
        result.losses.push_back(outcome.loss);
        result.norms.push_back(outcome.gradient_norm);
    }
    tiny.finish();
    result.state = tiny.state();
    result.masters = tiny.masters();
    return result;
}

}  // namespace sluice
