// Does a run stay the same, to the bit, wherever its sections have their homes?
#include <algorithm>
#include <random>

#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

/// Hidden 128: rows of the table are whole blocks of 8-bit moments.
ModelSpec model_for(int state_bytes, bool tied) {
    ModelSpec model = tiny_model(tied);
    if (state_precision(state_bytes).has_scales()) model.hidden = 128;
    return model;
}

struct Outcomes {
    std::vector<double> losses, norms, factors;
    std::string state;
    bool operator==(const Outcomes&) const = default;
};

/// Four steps; a limit that some of them exceed. With --clipping auto, all but the first expect
/// that nothing is clipped, rightly, wrongly and rightly.
Outcomes outcomes(const ModelSpec& model, const TrainingSpec& training, double max_norm) {
    TinyTraining tiny(model, training, DType::fp32, static_cast<int>(training.state_bytes));
    Outcomes out;
    for (int step = 0; step < 4; ++step) {
        const StepOutcome outcome =
            tiny.run(step % 2 == 0 ? max_norm : 1e9, TinyTraining::kLearningRate, {}, step > 0);
        out.losses.push_back(outcome.loss);
        out.norms.push_back(outcome.gradient_norm);
        out.factors.push_back(outcome.clip_factor);
    }
    tiny.finish();
    out.state = tiny.state();
    return out;
}

/// A plan that places what it has otherwise than `of`, whose results must be the same.
TrainingSpec random_homes(TrainingSpec of, bool tied, std::mt19937& random) {
    const auto below = [&](int end) {
        return static_cast<int>(random() % static_cast<unsigned>(end));
    };
    of.resident_layers = below(6);
    of.resident_tables = static_cast<ResidentTables>(tied ? 2 * below(2) : below(3));
    of.buffer_depth = 1 + below(3);
    of.gradient_slabs = 1 + below(3);
    of.host_gradient_slabs = below(3);
    of.keep_last_layers = below(6);
    constexpr std::int64_t kLayers = 5;
    of.deferred_layers = of.clipping == Clipping::exact
                             ? 0
                             : std::min<std::int64_t>(below(6), kLayers - of.resident_layers);
    of.visiting_layers =
        of.updates_after_norm() ? below(1 + static_cast<int>(kLayers - of.resident_layers)) : 0;
    if (of.updates_after_norm() && of.state_bytes >= 8)
        of.late_moment_layers =
            below(1 + static_cast<int>(kLayers - of.resident_layers - of.visiting_layers));
    of.recompute = static_cast<Recompute>(below(3));
    of.checkpoints = static_cast<CheckpointPlacement>(below(2));
    if (of.recompute != Recompute::none)
        of.host_kept_layers = below(6 - static_cast<int>(of.keep_last_layers));
    return of;
}

void copy_parameters(const ParameterStore& from, ParameterStore& to) {
    for (int section = 0; section < from.sections(); ++section) {
        const ParameterBlock &a = from.block(section), &b = to.block(section);
        std::copy_n(a.high, a.count, b.high);
        std::memcpy(b.low, a.low, static_cast<std::size_t>(kBf16 * a.count));
        std::memcpy(b.first_moment, a.first_moment, static_cast<std::size_t>(4 * a.count));
        std::memcpy(b.second_moment, a.second_moment, static_cast<std::size_t>(4 * a.count));
    }
}

}  // namespace

TEST_CASE("resident sections: 96 random plans give the results of the plain one", "[run]") {
    std::mt19937 random(7);
    for (const bool tied : {false, true}) {
        for (const Clipping clipping :
             {Clipping::automatic, Clipping::speculative, Clipping::exact, Clipping::off}) {
            for (const int state_bytes : {12, 8, 6, 5, 4}) {
                TrainingSpec plain = tiny_training();
                plain.clipping = clipping;
                plain.state_bytes = state_bytes;
                plain.micro_batch = state_bytes == 8 ? 1 : 4;
                const ModelSpec model = model_for(state_bytes, tied);
                const double norm = outcomes(model, plain, 1e9).norms.front();
                const Outcomes expected = outcomes(model, plain, 0.5 * norm);
                for (int i = 0; i < (state_bytes == 12 ? 4 : 2); ++i) {
                    const TrainingSpec t = random_homes(plain, tied, random);
                    CAPTURE(tied, static_cast<int>(clipping), state_bytes, t.resident_layers,
                            t.visiting_layers, t.late_moment_layers,
                            static_cast<int>(t.resident_tables), static_cast<int>(t.checkpoints));
                    const Outcomes result = outcomes(model, t, 0.5 * norm);
                    CHECK(result.losses == expected.losses);
                    CHECK(result.norms == expected.norms);
                    CHECK(result.factors == expected.factors);
                    CHECK((result.state == expected.state));
                }
            }
        }
    }
}

TEST_CASE("resident sections: a run goes on from other homes", "[run]") {
    for (const bool tied : {false, true}) {
        const ModelSpec model = tiny_model(tied);
        TrainingSpec resident = tiny_training();
        resident.resident_layers = 2;
        resident.resident_tables = ResidentTables::both;
        for (const bool first_resident : {false, true}) {
            const TrainingSpec before = first_resident ? resident : tiny_training(),
                               after = first_resident ? tiny_training() : resident;
            TinyTraining whole(model, tiny_training()), first(model, before);
            constexpr int kSteps = 2;
            for (int step = 0; step < kSteps; ++step) {
                whole.run();
                first.run();
            }
            first.finish();
            TinyTraining second(
                model, after, DType::fp32, 12, 1000,
                {[&](ParameterStore& store) { copy_parameters(first.store(), store); }, kSteps});
            CAPTURE(tied, first_resident);
            for (int step = 0; step < kSteps; ++step) CHECK(second.run().loss == whole.run().loss);
            whole.finish();
            second.finish();
            CHECK((second.state() == whole.state()));
        }
    }
}

TEST_CASE("resident sections: a NaN in a layer, head or embedding changes no parameter", "[run]") {
    for (const bool tied : {false, true}) {
        const ModelSpec model = tiny_model(tied);
        for (const Clipping clipping : {Clipping::speculative, Clipping::exact, Clipping::off}) {
            for (const int section : {2, model.layer_count(), model.layer_count() + 1}) {
                TrainingSpec training = tiny_training();
                training.clipping = clipping;
                training.resident_tables = ResidentTables::both;
                training.resident_layers = 5;
                const auto spoil = [&](ParameterStore& store) {
                    const ParameterBlock& block = store.block(section);
                    // Token 0 is in the batch.
                    block.high[section == store.embedding() ? 3 : block.count - 5] = 0x7FC0;
                };
                TinyTraining tiny(model, training, DType::fp32, 12, 1000, {spoil});
                const std::string before = tiny.state();
                CAPTURE(tied, static_cast<int>(clipping), section);
                CHECK_FALSE(tiny.run().finite);
                tiny.finish();
                CHECK((tiny.state() == before));
            }
        }
    }
}

TEST_CASE("resident sections: one layer, one token", "[run]") {
    ModelSpec model = tiny_model();
    truncate_layers(model, 1);
    TrainingSpec training;
    training.batch = training.sequence = 1;
    const TinyResult expected = train(model, training, 3);
    training.resident_tables = ResidentTables::both;
    for (const auto checkpoints : {CheckpointPlacement::device, CheckpointPlacement::host}) {
        training.checkpoints = checkpoints;
        const TinyResult result = train(model, training, 3);
        CHECK(result.losses == expected.losses);
        CHECK((result.state == expected.state));
    }
}
