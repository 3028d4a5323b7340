#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

TrainingSpec adapted_training() {
    TrainingSpec t = tiny_training();
    t.adapter_rank = 8;
    return t;
}

}  // namespace

TEST_CASE("adapters: training lowers the loss and leaves the frozen weights as they were",
          "[run]") {
    for (const bool tied : {false, true}) {
        for (const std::int64_t resident : {0, 3, 5}) {
            CAPTURE(tied, resident);
            TrainingSpec t = adapted_training();
            t.resident_layers = resident;
            t.resident_tables = resident == 5 ? ResidentTables::both : ResidentTables::none;
            TinyTraining training(tiny_model(tied), t, DType::fp32, 12, 1);
            const auto frozen = [&] {
                std::string all;
                for (int section = 0; section < training.store().adapters(); ++section) {
                    const ParameterBlock& b = training.store().block(section);
                    CHECK(b.first_moment == nullptr);
                    all.append(reinterpret_cast<const char*>(b.high),
                               static_cast<std::size_t>(kBf16 * b.count));
                }
                return all;
            };
            const std::string before = frozen();
            const double first = training.run().loss;
            double last = first;
            for (int i = 0; i < 30; ++i) last = training.run().loss;
            training.finish();
            CHECK(last < 0.7 * first);
            CHECK(frozen() == before);
        }
    }
}

TEST_CASE("adapters: the first loss is that of the weights alone, since B is zero", "[run]") {
    const ModelSpec model = tiny_model();
    TinyTraining full(model, tiny_training()), adapted(model, adapted_training());
    CHECK(adapted.evaluate() == full.evaluate());
    full.finish();
    adapted.finish();
}

TEST_CASE("adapters: dropout follows from seed, step and place alone", "[run]") {
    const ModelSpec model = tiny_model();
    TrainingSpec dropped = adapted_training();
    dropped.adapter_dropout_percent = 20;
    const auto losses = [&](TrainingSpec t, bool evaluates = false) {
        TinyTraining training(model, t, DType::fp32, 12, 1);
        std::vector<double> out;
        for (int i = 0; i < 3; ++i) out.push_back(training.run(0.5).loss);
        if (evaluates) out = {training.evaluate(), training.evaluate()};
        training.finish();
        return out;
    };
    const std::vector<double> expected = losses(dropped);
    CHECK(losses(dropped) == expected);
    // B begins at zero, and so does what is dropped.
    const std::vector<double> plain = losses(adapted_training());
    CHECK(expected[0] == plain[0]);
    CHECK(expected[2] != plain[2]);
    TrainingSpec elsewhere = dropped;
    elsewhere.resident_layers = 3;
    elsewhere.recompute = Recompute::none;
    CHECK(losses(elsewhere) == expected);
    TrainingSpec parts = dropped;
    parts.micro_batch = 1;
    const std::vector<double> in_parts = losses(parts);
    for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK_THAT(in_parts[i], Catch::Matchers::WithinRel(expected[i], 1e-3));
    const std::vector<double> evaluated = losses(dropped, true);
    CHECK(evaluated[0] == evaluated[1]);
}

TEST_CASE("adapters: NF4 weights train to the same bits wherever they are", "[run]") {
    const ModelSpec model = tiny_model();
    const auto trained = [&](std::int64_t resident, Recompute recompute, Form form) {
        TrainingSpec t = adapted_training();
        t.frozen_weights = form;
        t.resident_layers = resident;
        t.recompute = recompute;
        TinyTraining training(model, t, DType::fp32, 12, 1);
        std::vector<double> losses;
        for (int i = 0; i < 12; ++i) losses.push_back(training.run(0.5).loss);
        training.finish();
        return losses;
    };
    const std::vector<double> losses = trained(0, Recompute::full, Form::nf4);
    CHECK(losses.back() < 0.9 * losses.front());
    CHECK(trained(3, Recompute::full, Form::nf4) == losses);
    CHECK(trained(5, Recompute::none, Form::nf4) == losses);
    // Another model than that of bf16, and nearly the same one.
    const double plain = trained(0, Recompute::full, Form::bf16).front();
    CHECK(losses.front() != plain);
    CHECK_THAT(losses.front(), Catch::Matchers::WithinRel(plain, 0.02));
}

TEST_CASE("adapters: micro-batches and passes give the gradients of the whole batch", "[run]") {
    const ModelSpec model = tiny_model();
    TrainingSpec parts = adapted_training();
    parts.micro_batch = 1;
    TrainingSpec passes = parts;
    passes.passes = 4;
    const auto after_steps = [&](const TrainingSpec& t) {
        TinyTraining training(model, t);
        std::vector<double> out;
        for (int i = 0; i < 3; ++i) out.push_back(training.run(0.5).loss);
        training.finish();
        return std::pair(out, training.state());
    };
    const auto whole = after_steps(adapted_training()), in_parts = after_steps(parts);
    for (std::size_t i = 0; i < whole.first.size(); ++i)
        CHECK_THAT(in_parts.first[i], Catch::Matchers::WithinRel(whole.first[i], 1e-3));
    CHECK(after_steps(passes) == in_parts);
}
