// How do parameters change if a step's gradients are too large, or not finite?
#include <cmath>
#include <cstdio>

#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

constexpr std::uint16_t kNaN = 0x7FC0;

TrainingSpec with_clipping(Clipping clipping) {
    TrainingSpec training = tiny_training();
    training.clipping = clipping;
    return training;
}

constexpr Clipping kClippings[] = {Clipping::automatic, Clipping::speculative, Clipping::exact,
                                   Clipping::off};

/// Weights that round to neighbours in bf16 reach a gradient through forward and backward of seven
/// products a layer. Their errors add up as the root of that number.
double norm_tolerance() { return kBf16Rounding * std::sqrt(2 * 7 * tiny_model().layer_count()); }

double largest_difference(const std::vector<float>& x, const std::vector<float>& y) {
    float most = 0;
    for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
    return static_cast<double>(most);
}

/// One step from a model with a NaN: nothing changes, and the result says so.
void check_not_taken(TinyTraining& tiny) {
    const std::string before = tiny.state();
    const StepOutcome outcome = tiny.run();
    tiny.finish();
    CHECK_FALSE(outcome.finite);
    CHECK_FALSE(outcome.redone);
    CHECK((tiny.state() == before));
}

}  // namespace

TEST_CASE("streamed step: speculative clipping ends where exact clipping does", "[run]") {
    // Rewinding and redoing rounds each master, of size 1 at most, up to eight times more. It takes
    // the second moment of the clipped gradient, c^2 g^2, from sums that held g^2: four roundings
    // of those, which its root halves.
    const double master_error = fp32_error(8), root_error = fp32_error(4) / 2;
    for (const bool tied : {false, true}) {
        const double norm = train(tiny_model(tied), tiny_training(), 1).norms.front();
        for (const double factor : {0.5, 0.01}) {
            const double max_norm = factor * norm;
            const double tolerance =
                master_error + TinyTraining::kLearningRate * root_error / (factor * factor);
            TinyTraining exact(tiny_model(tied), with_clipping(Clipping::exact));
            TinyTraining speculative(tiny_model(tied), with_clipping(Clipping::speculative));
            double loss = 0;
            for (int step = 0; step < 4; ++step) {
                const StepOutcome a = exact.run(max_norm), b = speculative.run(max_norm);
                CAPTURE(tied, max_norm, step);
                CHECK(a.clip_factor == Approx(max_norm / a.gradient_norm).epsilon(1e-5));
                CHECK(b.clip_factor == Approx(a.clip_factor).epsilon(norm_tolerance()));
                CHECK(b.gradient_norm == Approx(a.gradient_norm).epsilon(norm_tolerance()));
                CHECK_FALSE(a.redone);
                CHECK(b.redone);
                loss = std::max(loss, std::abs(b.loss - a.loss) /
                                          ((step + 1) * tolerance_of_rounded_weights(a)));
                if (step > 0) continue;
                exact.finish();
                speculative.finish();
                const double most = largest_difference(exact.masters(), speculative.masters());
                std::printf("speculative clipping by %g: parameters %.0f%% of tolerance\n", factor,
                            100 * most / tolerance);
                CHECK(most <= tolerance);
            }
            std::printf("speculative clipping by %g: loss %.0f%% of tolerance\n", factor,
                        100 * loss);
            CHECK(loss <= 1);
        }
    }
}

TEST_CASE("streamed step: speculative clipping follows a limit that comes and goes", "[run]") {
    const double norm = train(tiny_model(), tiny_training(), 1).norms.front();
    TinyTraining exact(tiny_model(), with_clipping(Clipping::exact));
    TinyTraining speculative(tiny_model(), with_clipping(Clipping::speculative));
    for (const double max_norm : {1e9, 0.5 * norm, 1e9, 1e9, 0.25 * norm}) {
        const StepOutcome a = exact.run(max_norm), b = speculative.run(max_norm);
        exact.finish();
        speculative.finish();
        const std::vector<float> x = exact.masters(), y = speculative.masters();
        double squares = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            squares += std::pow(static_cast<double>(x[i]) - static_cast<double>(y[i]), 2);
        const double share = std::sqrt(squares / static_cast<double>(x.size())) /
                             static_cast<double>(TinyTraining::kLearningRate);
        CAPTURE(max_norm, share);
        CHECK(std::abs(b.loss - a.loss) <= tolerance_of_rounded_weights(a));
        CHECK(b.clip_factor == Approx(a.clip_factor).epsilon(norm_tolerance()));
        // A share of what a step moves: single parameters of nearly no gradient may turn about.
        CHECK(share <= 0.02);
    }
}

TEST_CASE("streamed step: auto has the bits of exact, unless an update ahead is corrected",
          "[run]") {
    for (const bool tied : {false, true}) {
        const double norm = train(tiny_model(tied), tiny_training(), 1).norms.front();
        for (const std::int64_t late : {0, 3}) {
            TrainingSpec of_exact = with_clipping(Clipping::exact),
                         of_auto = with_clipping(Clipping::automatic);
            of_exact.late_moment_layers = of_auto.late_moment_layers = late;
            of_auto.deferred_layers = 1;
            TinyTraining exact(tiny_model(tied), of_exact), automatic(tiny_model(tied), of_auto);
            // Clipped steps wait; others wait or not.
            for (const auto& [max_norm, ahead] :
                 {std::pair{0.5 * norm, false}, {1e9, true}, {1e9, false}, {1e9, true}}) {
                const StepOutcome a = exact.run(max_norm);
                const StepOutcome b =
                    automatic.run(max_norm, TinyTraining::kLearningRate, {}, ahead);
                CAPTURE(tied, late, max_norm, ahead);
                CHECK(a.loss == b.loss);
                CHECK(a.clip_factor == b.clip_factor);
                CHECK(b.ahead == ahead);
                CHECK_FALSE(b.corrected);
            }
            exact.finish();
            automatic.finish();
            CHECK((exact.state() == automatic.state()));
        }
    }
}

TEST_CASE("streamed step: an update ahead that clips is corrected without a second pass", "[run]") {
    // As for speculative clipping, but from the same gradients.
    const double master_error = fp32_error(8), root_error = fp32_error(4) / 2;
    for (const bool tied : {false, true}) {
        const double norm = train(tiny_model(tied), tiny_training(), 1).norms.front();
        for (const double factor : {0.5, 0.01}) {
            const double tolerance =
                master_error + TinyTraining::kLearningRate * root_error / (factor * factor);
            TinyTraining exact(tiny_model(tied), with_clipping(Clipping::exact));
            TinyTraining automatic(tiny_model(tied), with_clipping(Clipping::automatic));
            const StepOutcome a = exact.run(factor * norm);
            const StepOutcome b =
                automatic.run(factor * norm, TinyTraining::kLearningRate, {}, true);
            exact.finish();
            automatic.finish();
            CAPTURE(tied, factor);
            CHECK(b.corrected);
            CHECK_FALSE(b.redone);
            CHECK(a.clip_factor == b.clip_factor);
            CHECK(largest_difference(exact.masters(), automatic.masters()) <= tolerance);
            const StepOutcome next = exact.run();
            CHECK(std::abs(automatic.run().loss - next.loss) <= tolerance_of_rounded_weights(next));
        }
    }
}

TEST_CASE("streamed step: a limit above the norm clips nothing", "[run]") {
    const double norm = train(tiny_model(), tiny_training(), 1).norms.front();
    for (const Clipping clipping : kClippings) {
        TinyTraining tiny(tiny_model(), with_clipping(clipping));
        const StepOutcome outcome = tiny.run(1.01 * norm, TinyTraining::kLearningRate, {}, true);
        CHECK(outcome.clip_factor == 1);
        CHECK_FALSE(outcome.redone);
        CHECK(outcome.gradient_norm == norm);
    }
}

TEST_CASE("streamed step: a NaN anywhere in the weights changes no parameter", "[run]") {
    for (const bool tied : {false, true}) {
        for (const Clipping clipping : kClippings) {
            if (tied && clipping != Clipping::speculative) continue;
            // Layers, head, embedding.
            for (int section = 0; section < tiny_model().layer_count() + 2; ++section) {
                TinyTraining tiny(tiny_model(tied), with_clipping(clipping));
                const ParameterBlock& block = tiny.store().block(section);
                // Token 0 is in the batch.
                block.high[section == tiny.store().embedding() ? 3 : block.count - 5] = kNaN;
                CAPTURE(static_cast<int>(clipping), tied, section);
                check_not_taken(tiny);
            }
        }
    }
}

TEST_CASE("streamed step: after a step that was not taken, training goes on", "[run]") {
    TinyTraining tiny(tiny_model(), tiny_training());
    std::uint16_t& weight = tiny.store().block(2).high[100];
    const std::uint16_t good = weight;
    weight = kNaN;
    CHECK_FALSE(tiny.run().finite);
    tiny.finish();
    weight = good;
    const std::string before = tiny.state();
    CHECK(tiny.run().finite);
    tiny.finish();
    CHECK_FALSE((tiny.state() == before));
}
