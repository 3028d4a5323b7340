#include "sim/answers/predict/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/predict/plan_choice.h"
#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/sim/simulate/dense_case.h"

using namespace sluice;

namespace {

struct Case : test::DenseCase {
    Prediction asked() const { return predict(model, machine, training, {.suggestions = true}); }
};

}  // namespace

TEST_CASE("suggestions: none where it fits", "[simulate]") {
    const Prediction report = Case().asked();
    CHECK(report.advice.suggestions.empty());
    CHECK(!report.advice.no_suggestion);
}

TEST_CASE("suggestions: what is suggested fits", "[simulate]") {
    Case c;
    c.training.batch = 4096;
    c.training.sequence = 4096;
    const Prediction report = c.asked();
    REQUIRE_FALSE(report.advice.suggestions.empty());
    CHECK(!report.advice.no_suggestion);
    for (const Suggestion& one : report.advice.suggestions) {
        const Fit fit = predict(c.model, c.machine, one.training).plan.fit;
        CHECK(fit.fits());
        CHECK(one.device_peak == fit.device().peak.bytes);
    }
}

TEST_CASE("suggestions: host memory up to what the machine can have", "[simulate]") {
    Case c;
    c.machine.host.memory_capacity = 20'000'000'000;
    const Prediction report = c.asked();
    REQUIRE(report.advice.suggestions.size() == 2);
    CHECK(report.advice.suggestions[0].settings.at(0).field == "resident_layers");
    CHECK(report.advice.suggestions[1].settings.at(0).field == "host_memory");
    c.machine.host.memory_capacity_most = 20'000'000'000;
    CHECK(c.asked().advice.suggestions.size() == 1);
    // Then smaller states with a smaller batch, until these do not fit either.
    c.machine.gpu.memory_capacity = 12'000'000'000;
    c.training.clipping = Clipping::speculative;  // else gradients of all layers wait on the host
    const std::vector<Suggestion> smaller = c.asked().advice.suggestions;
    REQUIRE(!smaller.empty());
    CHECK(smaller.front().settings.size() >= 2);
    c.machine.gpu.memory_capacity = 4'000'000'000;
    CHECK(c.asked().advice.suggestions.empty());
}

TEST_CASE("suggestions: one pass, where sums of several do not fit", "[simulate]") {
    Case c;
    c.training.batch = 8;
    c.training.passes = 8;
    c.training.device_budget_bytes = 8e9;
    const Prediction report = c.asked();
    REQUIRE_FALSE(report.advice.suggestions.empty());
    const Suggestion& first = report.advice.suggestions[0];
    CHECK(first.settings == std::vector<Setting>{{"passes", "1"}});
    const Fit fit = predict(c.model, c.machine, first.training).plan.fit;
    CHECK(first.device_peak == fit.device().peak.bytes);
}

TEST_CASE("suggestions: messages use the chosen units", "[simulate]") {
    const auto in_bytes = [](double bytes) { return fmt::format("{:.0f} B", bytes); };
    CHECK(no_suggestion_text({true, 1000}, in_bytes) ==
          "no nearby setting fits: a shorter --seq, a smaller model or a larger machine is needed "
          "(this one has 1000 B of host memory at most)");
}

TEST_CASE("suggestions: in vain, they name what would help", "[simulate]") {
    Case c;
    c.machine.host.memory_capacity = 12'000'000'000;
    c.machine.host.memory_capacity_most = 15'000'000'000;
    c.machine.gpu.memory_capacity = 12'000'000'000;
    CHECK(
        no_suggestion_text(c.asked().advice.no_suggestion.value()) ==
        "no nearby setting fits: a smaller model or a larger machine is needed (this one has 15.0 "
        "GB of host memory at most)");
    // The model itself would fit, a sequence of that length does not; shorter than 1,024 tokens
    // is not tried.
    c = Case();
    c.machine.gpu.memory_capacity = 7'500'000'000;
    c.training.sequence = 1500;
    c.training.batch = 1;
    c.training.schedule = Schedule("megatrain");
    CHECK(no_suggestion_text(c.asked().advice.no_suggestion.value()) ==
          "no nearby setting fits: a shorter --seq, a smaller model or a "
          "larger machine is needed");
}

TEST_CASE("suggestions: a budget of memory is raised where the machine has more", "[simulate]") {
    Case c;
    c.training.device_budget_bytes = 2e9;
    const auto budget = [](const Suggestion& one) {
        return one.settings.front().field == "device_budget_bytes";
    };
    const std::vector<Suggestion> found = c.asked().advice.suggestions;
    const auto raised = std::ranges::find_if(found, budget);
    REQUIRE(raised != found.end());
    REQUIRE(raised->settings.size() == 1);
    CHECK(raised->training.device_budget_bytes >= static_cast<double>(raised->device_peak));
    CHECK(raised->training.device_budget_bytes < static_cast<double>(raised->device_peak) + 1e9);
    CHECK(predict(c.model, c.machine, raised->training).plan.fit.fits());
    // No such batch fits the machine, but a token does.
    c.training.batch = 4096;
    c.training.sequence = 1500;
    c.training.micro_batch = 4096;
    c.training.schedule = Schedule("megatrain");
    CHECK_THAT(no_suggestion_text({false, 0, true}),
               ContainsSubstring("a larger budget of memory, a smaller model"));
    for (const Suggestion& one : c.asked().advice.suggestions) CHECK(!budget(one));
}

TEST_CASE("suggestions: the least host memory is that of the plan chosen with it", "[simulate]") {
    Case c;
    c.machine.host.memory_capacity = 8'000'000'000;
    c.machine.gpu.memory_capacity = 40'000'000'000;
    const std::set<std::string> given;
    const auto suggestions = [&] {
        return predict(c.model, c.machine, c.training,
                       {.suggestions = true, .chosen_beside = &given})
            .advice.suggestions;
    };
    const std::vector<Suggestion> found = suggestions();
    REQUIRE(!found.empty());
    const Suggestion& more = found.back();
    REQUIRE(more.settings.size() == 1);
    CHECK(more.settings[0].field == "host_memory");
    const double gb = std::stod(more.settings[0].value);
    MachineSpec with = c.machine;
    with.host.memory_capacity = static_cast<Bytes>(gb * 1e9);
    CHECK(choose_plan(c.model, with, c.training, given).step);
    with.host.memory_capacity = static_cast<Bytes>(gb * 1e9 / 1.2);
    CHECK(!choose_plan(c.model, with, c.training, given).step);
    // Less than the settings that are asked for need.
    CHECK(static_cast<double>(predict(c.model, c.machine, c.training).plan.fit.host().peak.bytes) >
          gb * 1e9);
}
