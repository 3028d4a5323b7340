// Which ways does the start page propose?
#include "planner-gui/session/start_question.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

StartCandidate way(const std::string& machine, double days, double usd) {
    StartCandidate out;
    auto answer = std::make_shared<ScenarioAnswer>();
    answer->planned.machine.machine = machine;
    out.answer = answer;
    out.run.days.value = days;
    out.run.usd.value = usd;
    out.priced = true;
    return out;
}

std::vector<std::string> names(const StartQuestion& question,
                               const std::vector<StartCandidate>& ways) {
    std::vector<std::string> out;
    for (const StartPick& pick : start_picks(question, ways))
        out.push_back(ways[pick.candidate].machine());
    return out;
}

}  // namespace

TEST_CASE("start question: amounts are read as people write them", "[session]") {
    CHECK(parse_amount("2B") == 2e9);
    CHECK(parse_amount("1.5 T") == 1.5e12);
    CHECK(parse_amount("500m") == 5e8);
    CHECK(parse_amount("2,000,000") == 2e6);
    CHECK(parse_amount("2e9") == 2e9);
    CHECK(parse_amount("$20,000") == 20000.0);
    for (const char* wrong : {"", "B", "many", "-2B", "0", "2BB", "3,5", "1,5B", "20,0000"}) CHECK(!parse_amount(wrong));
}

TEST_CASE("start question: a size is the library's model of about that size", "[session]") {
    CHECK(model_of("72B") == "qwen2.5-72b");
    CHECK(model_of("120b") == "120b");
    CHECK(model_of("gpt-2") == "gpt-2");
    CHECK(model_of("30b-a3b") == "qwen3-30b-a3b");
    CHECK(model_of("30B-A3B") == "qwen3-30b-a3b");
    CHECK(model_of("qwen") == "qwen");  // several have it
    CHECK_THROWS_AS(model_of("37T"), InputError);
}

TEST_CASE("start question: cheapest, fastest and another machine within deadline and budget",
          "[session]") {
    const std::vector<StartCandidate> ways = {way("slow", 40, 100), way("cheap", 20, 200),
                                              way("other", 25, 300), way("fast", 5, 400),
                                              way("dear", 2, 900)};
    StartQuestion question;
    question.days = 30;
    question.usd = 500;
    CHECK(names(question, ways) == std::vector<std::string>{"cheap", "fast", "other"});
}

TEST_CASE("start question: what is cheapest and fastest is proposed once", "[session]") {
    const std::vector<StartCandidate> ways = {way("best", 1, 100), way("slower", 2, 200),
                                              way("slowest", 3, 300)};
    CHECK(names({}, ways) == std::vector<std::string>{"best", "slower", "slowest"});
    CHECK(
        start_picks({}, ways)[0].why ==
        "It costs the least and is the fastest of the ways that meet the deadline and the budget.");
    CHECK(start_picks({}, ways)[1].why == "It is the next cheapest on another machine.");
}

TEST_CASE("start question: where none meets both, the nearest and what one limit allows",
          "[session]") {
    const std::vector<StartCandidate> ways = {way("late", 60, 100), way("dear", 20, 3000),
                                              way("between", 40, 600)};
    StartQuestion question;
    question.days = 30;
    question.usd = 500;
    CHECK(names(question, ways) == std::vector<std::string>{"between", "dear", "late"});
}

TEST_CASE("start question: an owned machine that meets both comes first", "[session]") {
    std::vector<StartCandidate> ways = {way("cheap", 20, 1), way("own", 25, 300)};
    ways[1].owned = true;
    CHECK(names({}, ways) == std::vector<std::string>{"own", "cheap"});
    StartQuestion soon;
    soon.days = 22;
    CHECK(names(soon, ways) == std::vector<std::string>{"cheap"});
}
