#include "planner-gui/pictures/answer_words.h"

#include "tests/catch.h"
#include "tests/sim/answers/validate/made_runs.h"

namespace sluice {
namespace {

Validation made() {
    Validation validation;
    validation.machine_id = "box";
    validation.runs = {made_run("exact", "look", 1, 1), made_run("slow", "look", 10, 12.5),
                       made_run("fast", "held-out", 0.1, 0.08)};
    validation.summaries = summarize(validation.runs);
    return validation;
}

}  // namespace

TEST_CASE("validation: one run in a sentence", "[pictures]") {
    Validation one = made();
    one.runs.resize(1);
    one.summaries = summarize(one.runs);
    CHECK(validation_sentence(one) ==
          QStringLiteral("box: 1 run; mean error of tokens/s 0.0%, most +0.0% (exact)."));
}

TEST_CASE("validation: several groups are each said with their own error", "[pictures]") {
    CHECK(validation_sentence(made()).endsWith(QStringLiteral(
        " Mean error of tokens/s by group: look 10.0% (2 runs), held-out 25.0% (1 run).")));
}

TEST_CASE("words: fields have their labels in place of flags", "[pictures]") {
    CHECK(window_text("it fits with --micro-batch 4 --host-memory 1TB") ==
          QStringLiteral("it fits with \"Micro batch\" 4 \"Host memory\" 1TB"));
    CHECK(window_text("give --node-usd, or all as --price-usd") ==
          QStringLiteral("give \"Node price\", or all as \"Purchase price\""));
    CHECK(window_text("give --set host.gpus=NUMBER") ==
          QStringLiteral("give \"Numbers of the machine\" host.gpus=NUMBER"));
    CHECK(window_text("--planned-too counts it") == QStringLiteral("planned too counts it"));
    for (const char* as_it_is : {"a-b--c, 4 -- 5, x.json", "--", "---", "--A", "rows --", "--a-"})
        CHECK(window_text(as_it_is) == QString::fromLatin1(as_it_is));
}

TEST_CASE("words: a remedy is a sentence with both rates", "[pictures]") {
    Remedy remedy;
    remedy.lane = Work::host_to_device;
    CHECK(remedy_sentence(remedy).contains(QStringLiteral("alone would gain less than 2%.")));
    FasterLane faster;
    faster.factor = 1.5;
    faster.step = 9;
    faster.rate = 50e9;
    faster.host_memory = 200e9;
    remedy.faster = faster;
    CHECK(remedy_sentence(remedy) ==
          QStringLiteral("If copies to the GPU ran at 75 GB/s instead of 50 and host memory at 300 "
                         "GB/s instead of 200, compute would no longer wait for the weights; a "
                         "step would take 9.00 s."));
}

}  // namespace sluice
