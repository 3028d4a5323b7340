#include <QFile>
#include <QTemporaryDir>

#include "planner-gui/session/prediction.h"
#include "tests/catch.h"
#include "tests/planner-gui/file_content.h"
#include "tests/planner-gui/predicted.h"
#include "tests/planner-gui/small_scenario.h"

using namespace sluice;

namespace {

std::shared_ptr<const ScenarioAnswer> with_band(const PlannedScenario& planned) {
    return std::make_shared<const ScenarioAnswer>(
        answer_scenario(planned, {.band = Wanted::Band::always}));
}

/// A cache with the prediction of a scenario, then of that file one word is another.
void check_file(const PlannedScenario& planned, const QString& file, const QByteArray& word,
                const QByteArray& other) {
    PredictionCache cache;
    const auto first = with_band(planned);
    cache.add(first);
    CHECK(cache.find(planned) == first);
    const QByteArray before = test::content(file);
    REQUIRE(before.contains(word));
    test::write(file, QByteArray(before).replace(word, other));
    CHECK(cache.find(planned) == nullptr);
    const auto second = with_band(planned);
    CHECK(second->report().step.seconds != first->report().step.seconds);
    cache.add(second);
    CHECK(cache.find(planned) == second);
    REQUIRE(QFile::remove(file));
    CHECK(cache.find(planned) == nullptr);
    test::write(file, before);
    CHECK(cache.find(planned) == nullptr);
    cache.add(first);
    CHECK(cache.find(planned) == first);
}

}  // namespace

TEST_CASE("prediction cache: a profile or a config.json that changes is another question",
          "[session]") {
    const QTemporaryDir folder;
    const QString profile = folder.filePath(QStringLiteral("mine.json")),
                  config = folder.filePath(QStringLiteral("config.json"));
    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/hwprofiles/gh200-480gb.json"), profile));
    REQUIRE(QFile::copy(QStringLiteral(SLUICE_SOURCE_DIR "/models/qwen2.5-7b.json"), config));
    PlannedScenario planned;
    planned.machine.machine = profile.toStdString();
    planned.training = {{"batch", "8"}};
    const QByteArray layers = "\"num_hidden_layers\": 28", fewer = "\"num_hidden_layers\": 14";
    for (const QString& model : {config, folder.path()}) {
        planned.model.model = model.toStdString();
        check_file(planned, config, layers, fewer);
    }
    const QByteArray number = "\"bf16_achieved_gemm_tflops\"";
    const QByteArray text = test::content(profile);
    const qsizetype from = text.indexOf(number);
    const QByteArray value = text.mid(from, text.indexOf(',', from) - from);
    check_file(planned, profile, value, number + ": {\"value\": 111");
}

TEST_CASE("prediction cache: names and notes do not matter, values do", "[session]") {
    PlannedScenario planned = test::small_scenario();
    PredictionCache cache;
    const auto prediction = with_band(planned);
    cache.add(prediction);
    planned.name = "another";
    planned.notes = "of it";
    CHECK(cache.find(planned) == prediction);
    planned.training["batch"] = "3";
    CHECK(cache.find(planned) == nullptr);
}

TEST_CASE("prediction cache: scenarios that are looked at stay, however many were typed since",
          "[session]") {
    PlannedScenario planned;
    planned.model.model = "dense:layers=2,hidden=1024";
    planned.machine.machine = "gh200-480gb";
    const auto first = with_band(planned);
    const auto typed = [&](std::size_t number) {
        auto other = std::make_shared<ScenarioAnswer>(*first);
        other->planned.training["batch"] = std::to_string(number + 1);
        return other;
    };
    PredictionCache cache;
    cache.keep(1);
    cache.add(first);
    const auto second = typed(0);
    cache.add(second);
    CHECK(cache.find(planned) == first);
    for (std::size_t i = 1; i < PredictionCache::kSpare; ++i) cache.add(typed(i));
    CHECK(cache.find(planned) == first);
    cache.add(typed(PredictionCache::kSpare));
    CHECK(cache.find(second->planned) == nullptr);
    CHECK(cache.find(planned) == first);
}
