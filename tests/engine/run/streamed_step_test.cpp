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
    {"three kept on the host, one on the device",
     [](TrainingSpec& t) { t.host_kept_layers = 3, t.keep_last_layers = 1; }},
    {"all kept on the host, depth 1",
     [](TrainingSpec& t) { t.host_kept_layers = 5, t.buffer_depth = 1; }},
    {"exact clipping that clips nothing", [](TrainingSpec& t) { t.clipping = Clipping::exact; }},
    {"two updates deferred", [](TrainingSpec& t) { t.deferred_layers = 2; }},
    {"all updates deferred", [](TrainingSpec& t) { t.deferred_layers = 5; }},
    {"three deferred, one of everything",
     [](TrainingSpec& t) {
         t.deferred_layers = 3;
         t.buffer_depth = t.gradient_slabs = t.host_gradient_slabs = 1;
     }},
    {"two deferred, one layer and the tables resident",
     [](TrainingSpec& t) {
         t.deferred_layers = 2;
         t.resident_layers = 1;
         t.resident_tables = ResidentTables::both;
     }},
    {"the first layer resident", [](TrainingSpec& t) { t.resident_layers = 1; }},
    {"three layers resident, one slot and slab",
     [](TrainingSpec& t) {
         t.resident_layers = 3;
         t.buffer_depth = t.gradient_slabs = t.host_gradient_slabs = 1;
     }},
    {"all layers resident", [](TrainingSpec& t) { t.resident_layers = 5; }},
    {"two resident, exact clipping that clips nothing",
     [](TrainingSpec& t) {
         t.resident_layers = 2;
         t.clipping = Clipping::exact;
     }},
    {"all layers, head and embedding resident",
     [](TrainingSpec& t) {
         t.resident_layers = 5;
         t.resident_tables = ResidentTables::both;
     }},
    {"head and embedding resident, checkpoints on the host",
     [](TrainingSpec& t) {
         t.resident_tables = ResidentTables::both;
         t.checkpoints = CheckpointPlacement::host;
     }},
    {"head and embedding resident, exact clipping that clips nothing",
     [](TrainingSpec& t) {
         t.resident_tables = ResidentTables::both;
         t.clipping = Clipping::exact;
     }},
    {"all resident, exact clipping that clips nothing, checkpoints on the host",
     [](TrainingSpec& t) {
         t.resident_layers = 5;
         t.clipping = Clipping::exact;
         t.checkpoints = CheckpointPlacement::host;
     }},
};

/// How the same sums are split: they differ in the order of their terms.
const std::vector<std::pair<const char*, Change>> kSplits = {
    {"micro-batches of 2", [](TrainingSpec& t) { t.micro_batch = 2; }},
    {"micro-batches of 1", [](TrainingSpec& t) { t.micro_batch = 1; }},
    {"micro-batches of 1, three layers kept on the host",
     [](TrainingSpec& t) { t.micro_batch = 1, t.host_kept_layers = 3; }},
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

TrainingSpec changed(Change change, TrainingSpec training = tiny_training()) {
    change(training);
    return training;
}

void check_same_bits(const TinyResult& result, const TinyResult& expected) {
    CHECK(result.losses == expected.losses);
    CHECK(result.norms == expected.norms);
    CHECK((result.state == expected.state));
}

/// By how much two orders of the same sums may differ, as a share of the result.
double order_tolerance(const ModelSpec& m, const TrainingSpec& t) {
    return 2 * fp32_error(m.layer_count() * terms_of_forward(m, t.sequence) + terms_of_loss(m));
}

/// Means of the gradients of all steps so far and of their squares, as Adam weighs them.
struct GradientMeans {
    std::vector<double> mean, root_mean_square;
};
GradientMeans gradient_means(const TinyTraining& tiny, int steps) {
    const AdamWStep adam;
    const double first = 1 - std::pow(adam.beta1, steps), second = 1 - std::pow(adam.beta2, steps);
    GradientMeans means;
    for (const float moment : tiny.first_moments()) means.mean.push_back(double{moment} / first);
    for (const float moment : tiny.second_moments())
        means.root_mean_square.push_back(std::sqrt(double{moment} / second));
    return means;
}

/// Largest shares of the tolerances.
struct Shares {
    double gradient = 0, master = 0;
};

/// Compares two trainings in which only the last of these steps moved parameters.
Shares compare_parameters(TinyTraining& a, TinyTraining& b, int steps, double order) {
    const GradientMeans x = gradient_means(a, steps), y = gradient_means(b, steps);
    const std::vector<float> p = a.masters(), q = b.masters();
    constexpr auto kRate = static_cast<double>(TinyTraining::kLearningRate);
    Shares shares;
    std::size_t i = 0;
    for (const NamedTensor& tensor : a.store().tensors()) {
        const std::size_t end = i + static_cast<std::size_t>(tensor.elements());
        double squares = 0;
        for (std::size_t j = i; j < end; ++j) squares += std::pow(x.root_mean_square[j], 2);
        // Forward, and twice as much of backward.
        const double sums = 3 * order * std::sqrt(squares / static_cast<double>(end - i));
        for (; i < end; ++i) {
            // Rounded to bf16, and there perhaps to neighbours.
            const double size = x.root_mean_square[i], gradient = sums + 2 * kBf16Rounding * size;
            shares.gradient = std::max(shares.gradient, std::abs(x.mean[i] - y.mean[i]) / gradient);
            // A step is rate x mean / size, where the mean is at most the size and both change by
            // at most `gradient`. Each training rounds the master twice.
            const double master =
                kRate * 2 * gradient / (size + 1e-8) + fp32_error(4) * std::abs(double{p[i]});
            shares.master = std::max(shares.master, std::abs(double{p[i]} - double{q[i]}) / master);
        }
    }
    return shares;
}

}  // namespace

TEST_CASE("streamed step: where buffers stand and what is recomputed changes no bit", "[run]") {
    for (const bool tied : {false, true}) {
        const TinyResult expected = train(tiny_model(tied), tiny_training());
        for (const auto& [name, change] : kPlacements) {
            CAPTURE(name, tied);
            check_same_bits(train(tiny_model(tied), changed(change)), expected);
        }
    }
}

TEST_CASE("streamed step: with micro-batches too, placement changes no bit", "[run]") {
    TrainingSpec training = tiny_training();
    training.micro_batch = 1;
    const TinyResult expected = train(tiny_model(), training);
    for (const auto& [name, change] : kPlacements) {
        CAPTURE(name);
        check_same_bits(train(tiny_model(), changed(change, training)), expected);
    }
}

TEST_CASE("streamed step: passes change no bit, as they sum in the same order", "[run]") {
    for (const auto& [tied, passes] : {std::pair{false, 2}, {true, 4}}) {
        TrainingSpec training = tiny_training();
        training.micro_batch = 1;
        const TinyResult expected = train(tiny_model(tied), training);
        for (const auto& [name, change] : kPlacements) {
            CAPTURE(name, tied, passes);
            TrainingSpec other = changed(change, training);
            other.checkpoints = CheckpointPlacement::device;
            other.passes = passes;
            check_same_bits(train(tiny_model(tied), other), expected);
        }
    }
}

TEST_CASE("streamed step: micro-batches of one operation change no bit, wherever buffers stand",
          "[run]") {
    TrainingSpec training = tiny_training();
    training.batch = 40;  // copies are of two
    training.sequence = 2;
    training.micro_batch = 1;
    training.passes = 5;  // of 8 micro-batches, each of which has its own operations
    const TinyResult expected = train(tiny_model(), training);
    training.passes = 1;
    const std::vector<std::pair<const char*, Change>> places = {
        {"all on the device", [](TrainingSpec&) {}},
        {"two passes", [](TrainingSpec& t) { t.passes = 2; }},
        {"inputs on the host", [](TrainingSpec& t) { t.checkpoints = CheckpointPlacement::host; }},
        {"all inputs on the host, tables resident",
         [](TrainingSpec& t) {
             t.checkpoints = CheckpointPlacement::host;
             t.resident_tables = ResidentTables::both;
         }},
        {"three kept on the host", [](TrainingSpec& t) { t.host_kept_layers = 3; }},
        {"all kept on the host, with the inputs, depth 1", [](TrainingSpec& t) {
             t.checkpoints = CheckpointPlacement::host;
             t.host_kept_layers = 5, t.buffer_depth = 1;
         }}};
    for (const auto& [name, change] : places) {
        CAPTURE(name);
        check_same_bits(train(tiny_model(), changed(change, training)), expected);
    }
}

TEST_CASE("streamed step: clipping off updates as clipping that clips nothing", "[run]") {
    TrainingSpec training = tiny_training();
    const TinyResult expected = train(tiny_model(), training);
    training.clipping = Clipping::off;
    check_same_bits(train(tiny_model(), training), expected);
}

TEST_CASE("streamed step: micro-batches and chunks differ by the order of sums alone", "[run]") {
    constexpr int kSteps = 5, kLaterSteps = 3;
    constexpr double kNoLimit = 1e9;
    const double order = order_tolerance(tiny_model(), tiny_training());
    for (const auto& [name, change] : kSplits) {
        TinyTraining whole(tiny_model(), tiny_training()), split(tiny_model(), changed(change));
        CAPTURE(name);
        // Steps that move nothing differ by their own sums alone; the last of them moves.
        double loss = 0, later_loss = 0;
        for (int step = 1; step <= kSteps; ++step) {
            const float rate = step < kSteps ? 0 : TinyTraining::kLearningRate;
            const StepOutcome expected = whole.run(kNoLimit, rate),
                              result = split.run(kNoLimit, rate);
            CHECK(result.finite);
            loss = std::max(loss, std::abs(result.loss / expected.loss - 1) / order);
        }
        whole.finish();
        split.finish();
        const Shares shares = compare_parameters(whole, split, kSteps, order);
        for (int step = 0; step < kLaterSteps; ++step) {
            const StepOutcome expected = whole.run(), result = split.run();
            CHECK(result.finite);
            later_loss = std::max(later_loss, std::abs(result.loss - expected.loss) /
                                                  tolerance_of_rounded_weights(expected));
        }
        std::printf(
            "streamed step, %s: losses %.1g%%, gradients %.0f%%, masters %.0f%%, later losses "
            "%.1g%% of tolerance\n",
            name, 100 * loss, 100 * shares.gradient, 100 * shares.master, 100 * later_loss);
        CHECK(loss <= 1);
        CHECK(shares.gradient <= 1);
        CHECK(shares.master <= 1);
        CHECK(later_loss <= 1);
    }
}

TEST_CASE("streamed step: loss falls where the same batch comes again", "[run]") {
    ModelSpec model = tiny_model();
    model.hidden = 128;  // rows of the table are whole blocks of 8-bit moments
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
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
    const StepProgram program =
        plan_streamed(model, MachineSpec{}, tiny_training(), ClippedStep::ahead).step.program;
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
