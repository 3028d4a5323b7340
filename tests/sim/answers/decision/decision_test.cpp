// Is the right machine chosen, and do sentences and page say so?
#include <fmt/format.h>

#include "sim/report/answers/answer_reports.h"
#include "sim/report/bars.h"
#include "sim/report/to_svg.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/answers/decision/made_decision.h"
#include "tests/sim/report/xml_nesting.h"

namespace sluice {
namespace {

std::string joined(const Decision& decision) {
    return fmt::format("{}", fmt::join(answer(decision), "\n"));
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++n;
    return n;
}

}  // namespace

TEST_CASE("decision: the cheapest token wins, and the fastest is named", "[decision]") {
    // 3.6 $/h at 1,000 tokens/s: 0.001 $ a second and 1,000 tokens, $1 a million.
    const Decision decision =
        made_decision({made_candidate("slow", 1000, 3.6), made_candidate("fast", 4000, 36)});
    REQUIRE(decision.best() != nullptr);
    CHECK(decision.best()->name == "slow");
    CHECK(decision.aim == Aim::cheapest);
    const std::string words = joined(decision);
    CHECK_THAT(words, ContainsSubstring("slow trains it for the least money: $1.00 a million "
                                        "tokens.\nIt reaches 1,000 tokens/s (5 to 95%: 833 to "
                                        "1,111). 2 B tokens take 23.1 days (5 to 95%: 20.8 to "
                                        "27.8) and cost $2,000"));
    CHECK_THAT(
        words,
        ContainsSubstring(
            "Next is fast, 2.5 times the price; at these prices slow stays ahead in over 99 of "
            "100 cases."));
    CHECK_THAT(words, ContainsSubstring("Fastest is fast: 4,000 tokens/s"));
}

TEST_CASE("decision: one that meets deadline and budget goes before cheaper ones", "[decision]") {
    // The run takes 23.1 days and $2,000, or 5.8 days (5.2 to 6.9) and $5,000, or $6,000.
    const auto within = [](double days, double usd) {
        const RunLimits limits{days, usd};
        return made_decision({made_candidate("slow", 1000, 3.6, limits),
                              made_candidate("fast", 4000, 36, limits),
                              made_candidate("dear", 4000, 43.2, limits)});
    };
    const Decision one = within(7, 6500);
    CHECK(one.best()->name == "fast");
    const std::string words = joined(one);
    CHECK_THAT(words, ContainsSubstring("fast trains it for the least money of those that meet the "
                                        "deadline and the budget: $2.50 a million tokens.") &&
                          ContainsSubstring("It meets the deadline and the budget.\nThese do not: "
                                            "slow.") &&
                          ContainsSubstring("Next is dear, 20% dearer"));
    // A faster one that costs too much is not compared with.
    const Decision cheap = within(30, 2500);
    CHECK_THAT(joined(cheap), ContainsSubstring("It is also the fastest of those that meet the "
                                                "deadline and the budget."));
    CHECK_THAT(
        joined(within(6, 6500)),
        ContainsSubstring("It may miss the deadline: one run in 20 takes more than 6.94 days."));
    CHECK(within(30, 6500).best()->name == "slow");
    const Decision none = within(5, 1000);
    CHECK(none.best()->name == "slow");
    CHECK_THAT(
        joined(none),
        ContainsSubstring("No machine here meets the deadline and the budget.\nIt ends 18.1 "
                          "days after the deadline.\nIt costs $1,000 more than the budget."));
}

TEST_CASE("decision: a lead within the bands is said to be one", "[decision]") {
    const Decision decision =
        made_decision({made_candidate("a", 1000, 3.6), made_candidate("b", 1000, 4)});
    // 1.6449 x ln(4 / 3.6) / hypot(ln 1.2, ln 0.9) standard deviations are 0.823.
    CHECK_THAT(joined(decision),
               ContainsSubstring(
                   "Next is b, 11% dearer; at these prices a stays ahead in 79 of 100 cases."));
    CHECK_THAT(joined(made_decision({made_candidate("a", 1000, 3.6)})),
               !ContainsSubstring("Next is"));
}

TEST_CASE("decision: it says who costs the least by the cheapest offers", "[decision]") {
    std::vector<Candidate> both = {made_candidate("a", 1000, 3.6), made_candidate("b", 1000, 4)};
    for (Candidate& one : both) {
        Payment& rent = *one.cost.payment;
        rent.kind = OfferKind::rented;
        rent.paid = PaidGpus{};
    }
    both[0].cost.rents = {1, 0.9, 2};
    both[1].cost.rents = {1.11, 0.5, 3};
    CHECK_THAT(joined(made_decision(both)),
               ContainsSubstring("at these prices a stays ahead in 79 of 100 cases. By the "
                                 "cheapest offer of each, b costs the least: $0.50 a million "
                                 "against $0.90."));
    both[1].cost.rents->low = 0.95;
    CHECK_THAT(joined(made_decision(both)), !ContainsSubstring("cheapest offer of each"));
}

TEST_CASE("decision: by speed where asked, and where no price is known", "[decision]") {
    Decision asked =
        made_decision({made_candidate("slow", 1000, 3.6), made_candidate("fast", 4000, 36)});
    asked.request.aim = Aim::fastest;
    choose(asked);
    CHECK(asked.best()->name == "fast");
    CHECK_THAT(joined(asked), ContainsSubstring("Cheapest is slow: $1.00 a million tokens, 1,000"));
    CHECK_THAT(joined(asked), ContainsSubstring("fast trains it fastest") &&
                                  ContainsSubstring("Next is slow, 75% slower; fast stays ahead"));
    const Decision free =
        made_decision({made_candidate("a", 1000, 0), made_candidate("b", 2000, 0)});
    CHECK(free.best()->name == "b");
    CHECK_THAT(joined(free),
               ContainsSubstring("No price is known for a, b, so that speed decides"));
    const Decision some =
        made_decision({made_candidate("a", 1000, 1), made_candidate("b", 2000, 0)});
    CHECK(some.best()->name == "a");
    CHECK_THAT(joined(some),
               ContainsSubstring("No price is known for b, so it cannot be chosen by cost"));
}

TEST_CASE("decision: what does not fit is no choice; it is stated what would", "[decision]") {
    const Decision decision =
        made_decision({made_misfit_candidate("small"), made_candidate("large", 1000, 9)});
    CHECK(decision.best()->name == "large");
    const Decision none =
        made_decision({made_misfit_candidate("small"), made_misfit_candidate("s")});
    CHECK(none.best() == nullptr);
    const std::string words = joined(none);
    CHECK_THAT(words, ContainsSubstring("It fits on none of them."));
    CHECK_THAT(words, ContainsSubstring("Does not fit on small: device needs 90.0 GB, has 80.0 GB "
                                        "(short 10.0 GB)"));
    CHECK_THAT(words, ContainsSubstring(
                          "it fits with these settings: Batch 5 (device 45.0 GB, host 250.0 GB)."));
    CHECK(nesting_error(decision_html(none)) == std::nullopt);
}

TEST_CASE("decision: what no program trains today is no choice, unless it is asked for",
          "[decision]") {
    std::vector<Candidate> all = {made_candidate("planned", 4000, 3.6),
                                  made_candidate("runs", 1000, 3.6)};
    all[0].prediction.asked.runs_today = {"P", "P is known to run on X GPUs only", "a log, 2026"};
    Decision decision = made_decision(all);
    REQUIRE(decision.best() != nullptr);
    CHECK(decision.best()->name == "runs");
    const std::string words = joined(decision);
    CHECK_THAT(words, ContainsSubstring("Left out, since no program trains this way there today: "
                                        "planned (P is known to run on X GPUs only)."));
    CHECK_THAT(words, ContainsSubstring("It is also the fastest."));
    CHECK_THAT(decision_text(decision), ContainsSubstring("runs today"));
    decision.request.planned_too = true;
    choose(decision);
    CHECK(decision.best()->name == "planned");
    CHECK_THAT(joined(decision), !ContainsSubstring("Left out"));
    const Decision none = made_decision({all[0]});
    CHECK(none.best() == nullptr);
    CHECK_THAT(joined(none), ContainsSubstring("No program trains it this way today."));
}

TEST_CASE("decision: 70B on an MI355X names the systems that run there", "[decision]") {
    DecisionRequest request;
    request.model = read_model("llama-3.1-70b");
    request.machines.resize(1);
    request.machines[0].profile = read_machine_profile("mi355x");
    request.training.batch = 8;
    request.money.tokens = 2e9;
    const Decision decision = decide(request);
    CHECK(decision.candidates[0].fits());
    CHECK(decision.best() == nullptr);
    CHECK_THAT(joined(decision),
               ContainsSubstring("mi355x (sluice-train is known to run on NVIDIA GPUs only)") &&
                   ContainsSubstring("mi355x: megatrain, fsdp-offload, resident, zero3-offload."));
}

TEST_CASE("decision: tokens of the run lose only zeros behind the point", "[decision]") {
    Decision decision = made_decision({made_candidate("a", 1000, 1)});
    for (const auto& [tokens, words] : {std::pair(20e9, "20 B"), std::pair(1.5e9, "1.5 B"),
                                        std::pair(200e6, "200 M"), std::pair(2e12, "2 T")}) {
        decision.request.money.tokens = tokens;
        CHECK(tokens_words(decision) == words);
    }
}

TEST_CASE("decision: the page is well-formed, escapes names and loads nothing", "[decision]") {
    Decision decision = made_decision({made_candidate("a <&> \"b\"", 1000, 3.6),
                                       made_candidate("c", 900, 0), made_misfit_candidate("d")});
    decision.request.date = "<script>";
    decision.other = Comparison{{}, {"x <b> & y"}};
    decision.other->systems.emplace_back().name = "<system>";
    const std::string page = decision_html(decision);
    CHECK(nesting_error(page) == std::nullopt);
    CHECK(page.find("<&>") == std::string::npos);
    CHECK(page.find("<script") == std::string::npos);
    CHECK_THAT(page, ContainsSubstring("a &lt;&amp;&gt; &quot;b&quot; (chosen)"));
    CHECK_THAT(page, ContainsSubstring("default-src 'none'"));
    CHECK(count(page, "<svg ") == 3);  // speed, memory, a step
    for (const char* loads : {" src=", " href=", "url(http", "@import", "<link", "<img", "<iframe"})
        CHECK(page.find(loads) == std::string::npos);
    CHECK(count(page, "://") == count(page, "xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK_THAT(page,
               ContainsSubstring("@media print") && ContainsSubstring("prefers-color-scheme:dark"));
}

TEST_CASE("memory bars: kinds side by side add up to the peak", "[decision]") {
    MemoryBar bar;
    bar.name = "box";
    bar.fit.device().usable = 100'000'000'000;
    bar.fit.device().peak.bytes = 40'000'000'000;
    bar.fit.device().peak.by_kind[static_cast<std::size_t>(MemoryKind::weights)] = 10'000'000'000;
    bar.fit.device().peak.by_kind[static_cast<std::size_t>(MemoryKind::loss)] = 30'000'000'000;
    bar.fit.host().peak = bar.fit.device().peak;
    bar.fit.host().usable = bar.fit.device().usable;
    bar.fit.host().peak.bytes = 120'000'000'000;
    const Picture picture = memory_bars_picture({bar});
    const std::string svg = to_svg(picture);
    CHECK(nesting_error(svg) == std::nullopt);
    std::vector<Box> kinds;
    for (const Shape& shape : picture.shapes)
        if (!shape.tooltip.empty()) kinds.push_back(box_of(shape));
    REQUIRE(kinds.size() == 4);
    CHECK(kinds[1].width == Approx(3 * kinds[0].width));
    CHECK(kinds[1].x == Approx(kinds[0].right()));
    CHECK_THAT(svg, ContainsSubstring("<title>box: weights 10.0 GB</title>"));
    CHECK_THAT(svg, ContainsSubstring("40.0 GB of 100.0 GB<") &&
                        ContainsSubstring("120.0 GB of 100.0 GB: too small"));
    bar.unified = true;
    CHECK_THAT(to_svg(memory_bars_picture({bar})), !ContainsSubstring("device memory"));
}

TEST_CASE("decision: names have at most 30 letters, and each is another", "[decision]") {
    CHECK(cut_to_letters("8 x h100-sxm-pcie5", 30) == "8 x h100-sxm-pcie5");
    CHECK(cut_to_letters("h200-sxm-pcie5 (a very long name)", 20) == "h200-sxm-pcie5 (a...");
    CHECK(cut_to_letters("\u00fc\u00fc\u00fc\u00fc\u00fc", 4) == "\u00fc...");
    CHECK(cut_to_letters("h200-sxm-pcie5", 22, ", bought") == "h200-sxm-pcie5, bought");
    CHECK(cut_to_letters("h200-sxm-pcie5", 21, ", bought") == "h200-sxm-p..., bought");
    DecisionRequest request;
    request.model = read_model("qwen2.5-0.5b");
    for (const char* const scenario :
         {"everything as it was in spring", "everything as it was in autumn"}) {
        AskedMachine one;
        one.profile = read_machine_profile("gh200-480gb");
        one.planned.name = scenario;
        one.training = TrainingSpec{};
        one.training->batch = 4;
        request.machines.push_back(one);
    }
    const Decision decision = decide(request);
    CHECK(decision.candidates[0].name == "gh200-480gb (everything as...)");
    CHECK(decision.candidates[1].name == "2. gh200-480gb (everything...");
    CHECK(decision.candidates[1].full_name == "gh200-480gb (everything as it was in autumn)");
    const std::string page = decision_html(decision);
    CHECK_THAT(page, ContainsSubstring("everything as it was in autumn"));
}

}  // namespace sluice
