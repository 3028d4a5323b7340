// Settings and values at the edge of what a plan allows.
#include <cmath>

#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

/// bf16 of a value.
std::uint16_t bf16(float value) { return split_master(value).high; }

/// A model whose forward is finite everywhere and in whose backward a gradient of layer 0 is not:
/// that of its output projection, which is the attention's output (1e37) times the gradient of the
/// hidden state. The norm of layer 1, whose input is as small as 1e-6, multiplies that by 1e6.
void make_backward_overflow(ParameterStore& store, const ModelSpec& model) {
    const LayerLayout layout = layer_layout(model, model.kinds.front());
    const AttentionSpec& a = model.kinds.front().attention;
    const auto fill = [&](int section, std::int64_t begin, std::int64_t count, float value) {
        const ParameterBlock& b = store.block(section);
        for (std::int64_t i = begin; i < begin + count; ++i)
            set_master(b, i, join_master({bf16(value), 0}));
    };
    const ParameterBlock& table = store.block(store.embedding());
    for (std::int64_t i = 0; i < table.count; ++i)
        set_master(table, i, join_master({bf16(master_of(table, i) * 1e-5F), 0}));
    // Values are their bias alone.
    const std::int64_t values = a.query_width() + a.key_width();
    fill(0, layout.qkv.offset + values * model.hidden, a.key_width() * model.hidden, 0);
    fill(0, layout.qkv_bias.offset + values, a.key_width(), 1e37F);
    fill(0, layout.output.offset, layout.output.elements(), 0);
    fill(0, layout.down.offset, layout.down.elements(), 0);
}

}  // namespace

TEST_CASE("streamed step: every row of the table is updated where a batch could hold all of them",
          "[run]") {
    for (const Clipping clipping : {Clipping::speculative, Clipping::exact, Clipping::off}) {
        for (const bool tied : {false, true}) {
            ModelSpec model = tiny_model(tied);
            model.vocabulary = 20;  // of 32 tokens; squares leave out many remainders
            TrainingSpec training = tiny_training();
            training.clipping = clipping;
            TinyTraining tiny(model, training);
            const ParameterBlock& table = tiny.store().block(tiny.store().embedding());
            const auto* const low = static_cast<const std::uint16_t*>(table.low);
            const std::vector<std::uint16_t> before(low, low + table.count);
            tiny.run();
            tiny.finish();
            int unchanged = 0;
            for (std::int64_t row = 0; row < model.vocabulary; ++row) {
                const std::int64_t begin = row * model.hidden;
                const std::uint16_t* const row_low = low + begin;
                unchanged += std::equal(row_low, row_low + model.hidden, before.begin() + begin);
            }
            CAPTURE(static_cast<int>(clipping), tied);
            CHECK(unchanged == 0);  // weight decay alone moves every row
        }
    }
}

TEST_CASE(
    "streamed step: a gradient that overflows late in backward is noticed, and with exact clipping "
    "changes no parameter",
    "[run]") {
    for (const Clipping clipping : {Clipping::speculative, Clipping::exact, Clipping::off}) {
        TrainingSpec training = tiny_training();
        training.clipping = clipping;
        ModelSpec model = tiny_model();
        model.norm_epsilon = 1e-16;
        TinyTraining tiny(model, training);
        make_backward_overflow(tiny.store(), model);
        bool finite = true;
        const int embedding = tiny.store().embedding();
        const std::string before = tiny.state(), layer_0 = tiny.state(0),
                          rows = tiny.state(embedding);
        const StepOutcome outcome = tiny.run();
        tiny.finish();
        CAPTURE(static_cast<int>(clipping), outcome.loss, outcome.gradient_norm);
        CHECK(std::isfinite(outcome.loss));
        CHECK_FALSE(outcome.finite);
        if (clipping == Clipping::exact) CHECK((tiny.state() == before));
        // From the overflow on nothing is updated; what was before it is finite.
        CHECK((tiny.state(0) == layer_0));
        CHECK((tiny.state(embedding) == rows));
        for (const float master : tiny.masters()) finite = finite && std::isfinite(master);
        CHECK(finite);
    }
}

TEST_CASE("streamed step: what lies between the head's tensors does not count", "[run]") {
    ModelSpec model = tiny_model();
    model.hidden = 36;  // 97 rows of it end between multiples of 8
    for (const Recompute recompute :
         {Recompute::full, Recompute::keep_attention, Recompute::none}) {
        for (const auto checkpoints : {CheckpointPlacement::device, CheckpointPlacement::host}) {
            TrainingSpec training = tiny_training();
            training.recompute = recompute;
            training.checkpoints = checkpoints;
            TinyTraining tiny(model, training);
            std::uint16_t& weight = tiny.store().block(0).high[100];
            const std::uint16_t good = weight;
            weight = 0x7FC0;  // NaN, which this step leaves all over the arena
            CHECK_FALSE(tiny.run().finite);
            tiny.finish();
            weight = good;
            CAPTURE(static_cast<int>(recompute), static_cast<int>(checkpoints));
            CHECK(tiny.run().finite);
        }
    }
}

TEST_CASE("streamed step: one layer, one token", "[run]") {
    ModelSpec model = tiny_model();
    truncate_layers(model, 1);
    TrainingSpec training;
    training.batch = training.sequence = 1;
    for (const auto checkpoints : {CheckpointPlacement::device, CheckpointPlacement::host}) {
        training.checkpoints = checkpoints;
        const TinyResult result = train(model, training, 3);
        CHECK(result.losses.back() > 0);
    }
}

namespace {

/// The first step on sequences of rising tokens, of whose targets only the first `counted` count.
StepOutcome masked_step(std::int64_t micro_batch, int counted) {
    TrainingSpec training = tiny_training();
    training.micro_batch = micro_batch;
    TinyTraining tiny(tiny_model(), training);
    std::vector<std::int32_t> inputs, targets;
    for (int i = 0; i < training.tokens(); ++i) {
        inputs.push_back(i);
        targets.push_back(i < counted ? i + 1 : -1);
    }
    AdamWStep adam;
    adam.step = 1;
    const StepOutcome outcome = tiny.step().run({inputs, targets}, {inputs, {}}, adam, 1e9);
    tiny.finish();
    for (const float master : tiny.masters()) CHECK(std::isfinite(master));
    return outcome;
}

}  // namespace

TEST_CASE("streamed step: the loss is the mean over the targets that count", "[run]") {
    const StepOutcome whole = masked_step(4, 11);
    CHECK(std::abs(whole.loss - std::log(97)) < 1);  // not 11 / 32 of it
    // 8, 3, 0 and 0 targets: each target weighs the same in all micro-batches.
    const StepOutcome parts = masked_step(1, 11);
    CHECK(parts.loss == Approx(whole.loss).epsilon(1e-5));
    CHECK(parts.gradient_norm == Approx(whole.gradient_norm).epsilon(1e-2));
}

TEST_CASE("streamed step: without a target that counts, loss and gradient are zero", "[run]") {
    const StepOutcome outcome = masked_step(2, 0);
    CHECK(outcome.finite);
    CHECK(outcome.loss == 0);
    CHECK(outcome.gradient_norm == 0);
}

TEST_CASE("streamed step: a micro-batch that no document begins is refused", "[run]") {
    TrainingSpec training = tiny_training();
    training.attend_within = AttendWithin::document;
    training.micro_batch = training.batch / 2;
    TinyTraining tiny(tiny_model(false), training);
    const std::vector<std::int32_t> inputs(static_cast<std::size_t>(training.tokens()), 1), none,
        first = {0};
    AdamWStep adam;
    adam.step = 1;
    CHECK_THROWS_WITH(tiny.step().run({inputs, inputs, none}, {inputs, {}}, adam, 1e9),
                      ContainsSubstring("no document begins micro-batch 0"));
    CHECK_THROWS_WITH(tiny.step().run({inputs, inputs, first}, {inputs, {}}, adam, 1e9),
                      ContainsSubstring("no document begins micro-batch 1"));
}
