// Does a step beyond a limit change nothing, and do the steps after it go on from there?
#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

constexpr double kClippingNorm = 0.5;  // which clips
constexpr float kStepRate = 1e-2F;

struct Case {
    bool tied;
    std::int64_t resident;
    ResidentTables tables;
    int state_bytes;
};

TrainingSpec training_of(const Case& one, Clipping clipping) {
    TrainingSpec t = tiny_training();
    t.clipping = clipping;
    t.resident_layers = one.resident;
    t.resident_tables = one.tables;
    t.state_bytes = one.state_bytes;
    return t;
}

}  // namespace

TEST_CASE("streamed step: a step beyond a limit changes no bit, and the next goes on", "[run]") {
    for (const Case& one :
         {Case{false, 0, ResidentTables::none, 12}, Case{true, 0, ResidentTables::none, 8},
          Case{false, 2, ResidentTables::head, 12}, Case{true, 5, ResidentTables::both, 12}}) {
        CAPTURE(one.tied, one.resident, one.state_bytes);
        const TrainingSpec training = training_of(one, Clipping::exact);
        TinyTraining plain(tiny_model(one.tied), training, DType::fp32, one.state_bytes),
            skipping(tiny_model(one.tied), training, DType::fp32, one.state_bytes);
        for (TinyTraining* one_run : {&plain, &skipping}) {
            one_run->run(kClippingNorm, kStepRate);
            one_run->finish();
        }
        const std::string before = skipping.state();
        // Both kinds of limits; a rate of 0 without decay is not the same, since moments change.
        for (const StepLimits& limits : {StepLimits{1e-3, 1e9}, StepLimits{1e9, 1e-3}}) {
            const StepOutcome skipped = skipping.run(kClippingNorm, kStepRate, limits);
            CHECK(skipped.skipped);
            CHECK(skipped.loss > 1);
            CHECK(skipped.gradient_norm > kClippingNorm);
            skipping.finish();
            CHECK((skipping.state() == before));
        }
        // The rows that were gathered for this step are those from before the skipped ones.
        const double loss = skipping.evaluate();
        const StepOutcome next = skipping.run(kClippingNorm, kStepRate);
        CHECK_FALSE(next.skipped);
        CHECK(next.loss == loss);
        skipping.finish();
        CHECK_FALSE((skipping.state() == before));
    }
}

TEST_CASE("streamed step: limits hold only where clipping is exact", "[run]") {
    for (const Clipping clipping : {Clipping::speculative, Clipping::off}) {
        const Case one{false, 0, ResidentTables::none, 12};
        TinyTraining training(tiny_model(), training_of(one, clipping));
        CHECK_FALSE(training.run(kClippingNorm, kStepRate, {1e-3, 1e-3}).skipped);
        training.finish();
    }
}
