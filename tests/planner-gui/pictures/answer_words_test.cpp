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

}  // namespace sluice
