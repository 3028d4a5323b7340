// Does a step that only finds the loss leave the training as it was?
#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

TrainingSpec with_residents(Clipping clipping, std::int64_t layers, ResidentTables tables) {
    TrainingSpec t = tiny_training();
    t.clipping = clipping;
    t.resident_layers = layers;
    t.resident_tables = tables;
    return t;
}

}  // namespace

TEST_CASE("streamed step: a loss that is found without training changes no bit of it", "[run]") {
    std::vector<TrainingSpec> cases;
    for (const Clipping clipping : {Clipping::speculative, Clipping::exact, Clipping::off}) {
        cases.push_back(with_residents(clipping, 0, ResidentTables::none));
        cases.push_back(with_residents(clipping, 2, ResidentTables::none));
        cases.push_back(with_residents(clipping, 5, ResidentTables::both));
    }
    TrainingSpec& most = cases.emplace_back(tiny_training());
    most.micro_batch = 2;
    most.checkpoints = CheckpointPlacement::host;
    most.buffer_depth = most.gradient_slabs = most.host_gradient_slabs = 1;
    for (const bool tied : {false, true}) {
        for (std::size_t i = 0; i < cases.size(); ++i) {
            CAPTURE(tied, i);
            TinyTraining plain(tiny_model(tied), cases[i]), watched(tiny_model(tied), cases[i]);
            constexpr double kMaxNorm = 0.5;  // which clips
            for (int step = 0; step < 4; ++step) {
                const int losses = step % 3;
                double found = 0;
                for (int j = 0; j < losses; ++j) found = watched.evaluate();
                const StepOutcome expected = plain.run(kMaxNorm), actual = watched.run(kMaxNorm);
                CHECK(actual.loss == expected.loss);
                CHECK(actual.gradient_norm == expected.gradient_norm);
                if (losses > 0 && !actual.redone) CHECK(found == actual.loss);
            }
            watched.evaluate();
            plain.finish();
            watched.finish();
            CHECK((watched.state() == plain.state()));
        }
    }
}
