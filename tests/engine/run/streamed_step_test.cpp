#include "engine/run/streamed_step.h"

#include <cmath>
#include <cstdio>

#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

using Change = void (*)(TrainingSpec&);

/// Where things stand and when they move, not what is computed.
const std::vector<std::pair<const char*, Change>> kPlacements = {
    {"buffer depth 1", [](TrainingSpec& t) { t.buffer_depth = 1; }},
    {"buffer depth 3", [](TrainingSpec& t) { t.buffer_depth = 3; }},
    {"more slots than layers", [](TrainingSpec& t) { t.buffer_depth = t.gradient_slabs = 8; }},
    {"one gradient slab", [](TrainingSpec& t) { t.gradient_slabs = 1; }},
    {"one slab on the host", [](TrainingSpec& t) { t.host_gradient_slabs = 1; }},
    {"two slabs on the host", [](TrainingSpec& t) { t.host_gradient_slabs = 2; }},
    {"one of everything",
     [](TrainingSpec& t) { t.buffer_depth = t.gradient_slabs = t.host_gradient_slabs = 1; }},
    {"checkpoints on the host", [](TrainingSpec& t) { t.checkpoints = CheckpointPlacement::host; }},
    {"attention kept", [](TrainingSpec& t) { t.recompute = Recompute::keep_attention; }},
    {"everything kept", [](TrainingSpec& t) { t.recompute = Recompute::none; }},
    {"the last two layers kept", [](TrainingSpec& t) { t.keep_last_layers = 2; }},
    {"the last two kept, attention of the others",
     [](TrainingSpec& t) {
         t.keep_last_layers = 2;
         t.recompute = Recompute::keep_attention;
     }},
    {"all kept and checkpoints on the host, depth 1",
     [](TrainingSpec& t) {
         t.buffer_depth = 1;
         t.checkpoints = CheckpointPlacement::host;
         t.recompute = Recompute::none;
     }},
    {"exact clipping that clips nothing", [](TrainingSpec& t) { t.clipping = Clipping::exact; }},
};

/// How the same sums are split: they differ in the order of their terms.
const std::vector<std::pair<const char*, Change>> kSplits = {
    {"micro-batches of 2", [](TrainingSpec& t) { t.micro_batch = 2; }},
    {"micro-batches of 1", [](TrainingSpec& t) { t.micro_batch = 1; }},
    {"loss in chunks of 5 tokens", [](TrainingSpec& t) { t.loss_chunk_tokens = 5; }},
    {"feed-forward in chunks of 7 tokens",
     [](TrainingSpec& t) { t.feed_forward_chunk_tokens = 7; }},
    {"micro-batches of 2, all chunks, checkpoints on the host, attention kept",
     [](TrainingSpec& t) {
         t.micro_batch = 2;
         t.loss_chunk_tokens = 3;
         t.feed_forward_chunk_tokens = 5;
         t.checkpoints = CheckpointPlacement::host;
         t.recompute = Recompute::keep_attention;
     }},
};

TrainingSpec changed(Change change) {
    TrainingSpec training = tiny_training();
    change(training);
    return training;
}

/// Root mean square of the difference, as a share of what a parameter moves at most.
double difference(const TinyResult& a, const TinyResult& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.masters.size(); ++i) {
        const double d = static_cast<double>(a.masters[i]) - static_cast<double>(b.masters[i]);
        squares += d * d;
    }
    const double most = TinyTraining::kLearningRate * static_cast<double>(a.losses.size());
    return std::sqrt(squares / static_cast<double>(a.masters.size())) / most;
}

}  // namespace

TEST_CASE("streamed step: where buffers stand and what is recomputed changes no bit", "[run]") {
    for (const bool tied : {false, true}) {
        const TinyResult expected = train(tiny_model(tied), tiny_training());
        for (const auto& [name, change] : kPlacements) {
            CAPTURE(name, tied);
            const TinyResult result = train(tiny_model(tied), changed(change));
            CHECK(result.losses == expected.losses);
            CHECK(result.norms == expected.norms);
            CHECK((result.state == expected.state));
        }
    }
}

TEST_CASE("streamed step: with micro-batches too, placement changes no bit", "[run]") {
    TrainingSpec training = tiny_training();
    training.micro_batch = 1;
    const TinyResult expected = train(tiny_model(), training);
    for (const auto& [name, change] : kPlacements) {
        CAPTURE(name);
        TrainingSpec other = training;
        change(other);
        const TinyResult result = train(tiny_model(), other);
        CHECK(result.losses == expected.losses);
        CHECK((result.state == expected.state));
    }
}

TEST_CASE("streamed step: clipping off updates as clipping that clips nothing", "[run]") {
    TrainingSpec training = tiny_training();
    const TinyResult expected = train(tiny_model(), training);
    training.clipping = Clipping::off;
    const TinyResult result = train(tiny_model(), training);
    CHECK(result.losses == expected.losses);
    CHECK((result.state == expected.state));
    CHECK(result.norms == expected.norms);
}

TEST_CASE("streamed step: micro-batches and chunks differ by the order of sums alone", "[run]") {
    // Gradients are rounded to bf16 after their sums: a last bit may fall the other way (2^-8 of
    // it), which Adam makes a change of the update by as much; near zero, where signs may turn, of
    // the whole update.
    constexpr double kLossTolerance = 1e-5, kTolerance = 1e-3;
    const TinyResult expected = train(tiny_model(), tiny_training());
    for (const auto& [name, change] : kSplits) {
        const TinyResult result = train(tiny_model(), changed(change));
        double loss = 0;
        for (std::size_t i = 0; i < result.losses.size(); ++i)
            loss = std::max(loss, std::abs(result.losses[i] / expected.losses[i] - 1));
        const double parameters = difference(result, expected);
        std::printf("streamed step, %s: loss %.0f%%, parameters %.0f%% of tolerance\n", name,
                    100 * loss / kLossTolerance, 100 * parameters / kTolerance);
        CAPTURE(name, loss, parameters);
        CHECK(loss <= kLossTolerance);
        CHECK(parameters <= kTolerance);
    }
}

TEST_CASE("streamed step: loss falls where the same batch comes again", "[run]") {
    ModelSpec model = tiny_model();
    model.hidden = 128;  // rows of the table are whole blocks of 8-bit moments
    for (const int state_bytes : {12, 8, 6}) {
        TrainingSpec training = tiny_training();
        training.state_bytes = state_bytes;
        TinyTraining tiny(model, training, DType::bf16, state_bytes, 1);
        const double first = tiny.run().loss;
        double last = 0;
        for (int i = 0; i < 20; ++i) last = tiny.run().loss;
        CAPTURE(state_bytes);
        CHECK(last < 0.5 * first);
    }
}

TEST_CASE("streamed step: intervals lie between the calls and follow the plan", "[run]") {
    const ModelSpec model = tiny_model();
    TinyTraining tiny(model, tiny_training());
    const StepProgram program = plan_streamed(model, MachineSpec{}, tiny_training()).step.program;
    const Seconds began = host_seconds();
    tiny.run();
    tiny.run();
    const std::vector<OperationInterval> intervals = tiny.step().intervals_of_step_before();
    const Seconds ended = host_seconds();
    REQUIRE(intervals.size() == program.operations.size());
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        CAPTURE(i, operation_name(program.operations[i].kind));
        CHECK(intervals[i].start >= began);
        CHECK(intervals[i].end >= intervals[i].start);
        CHECK(intervals[i].end <= ended);
        for (const Dependency& wait : program.operations[i].waits_for) {
            if (wait.previous_step) continue;
            CHECK(intervals[i].start >= intervals[static_cast<std::size_t>(wait.operation)].end);
        }
    }
}
