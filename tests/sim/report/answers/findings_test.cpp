// Which sentences follow from a comparison of systems with given speeds?
#include "sim/report/answers/findings.h"

#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/answers/compare/made_comparison.h"

using namespace sluice;

namespace {

const Schedule kOurs = Schedule("streamed"), kPeer = Schedule("zero3-offload");

using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("compare: a faster system is named, with both speeds", "[compare]") {
    const Comparison faster{{made_system(kOurs, 1000), made_system(kPeer, 1500)}};
    CHECK(relative_speed(faster, faster.systems[1]) == Approx(1.5));
    CHECK(verdict(faster) ==
          Sentences{"zero3-offload is faster than streamed: 1,500 tokens/s against "
                    "1,000, 1.50x, in over 99 of 100 cases"});
    const Comparison close{{made_system(kOurs, 1000), made_system(kPeer, 1050)}};
    // 1.6449 x ln 1.05 / hypot(ln 1.1, ln 0.9) standard deviations are 0.565.
    CHECK(verdict(close) ==
          Sentences{"zero3-offload is faster than streamed: 1,050 tokens/s against "
                    "1,000, 1.05x, in 71 of 100 cases"});
}

TEST_CASE("compare: where no other system is faster, or none fits, it is stated", "[compare]") {
    const Comparison slower{{made_system(kOurs, 1000), made_system(kPeer, 900)}};
    CHECK(verdict(slower) == Sentences{"no other system that fits is faster than streamed"});
    const Comparison alone{{made_system(kOurs, 1000), made_misfit(kPeer, 2000, 800)}};
    CHECK(verdict(alone) == Sentences{"no other system fits, only streamed"});
    CHECK_FALSE(relative_speed(alone, alone.systems[1]));
}

TEST_CASE("compare: a system that would be faster with another batch is named", "[compare]") {
    const Comparison c{{made_system(kOurs, 1000), made_misfit(kPeer, 2000, 1600)}};
    CHECK(verdict(c) ==
          Sentences{
              "zero3-offload does not fit with the given settings, but with --batch 5 is faster "
              "than streamed: 1,600 tokens/s against 1,000"});
    CHECK(misfit_words(c, c.systems[1]) ==
          Sentences{"device needs 90.0 GB, has 80.0 GB (short 10.0 GB); "
                    "largest: activations 88.0 GB",
                    "fits with --batch 5 (device 45.0 GB, host 250.0 GB): 1,600 "
                    "tokens/s, 1.60x of streamed"});
    CHECK(short_by(c.systems[1].report) == "device short 10.0 GB");
}

TEST_CASE("compare: what fits with shorter sequences only is not compared with ours", "[compare]") {
    Comparison c{{made_system(kOurs, 1000), made_misfit(kPeer, 2000, 1600)}};
    Suggestion& shorter = c.systems[1].report.advice.suggestions.front();
    shorter.settings = {{"seq", "25"}};
    shorter.training.sequence = 25;
    CHECK(verdict(c) == Sentences{"no other system fits, only streamed"});
    CHECK(misfit_words(c, c.systems[1]).back() ==
          "fits with --seq 25 (device 45.0 GB, host 250.0 GB): 1,600 tokens/s "
          "(of shorter sequences)");
}

TEST_CASE("compare: without ours, or where it does not fit, nothing is relative", "[compare]") {
    const Comparison others{{made_system(kPeer, 1000)}};
    CHECK_FALSE(relative_speed(others, others.systems[0]));
    CHECK(verdict(others).empty());
    const Comparison misfit{{made_misfit(kOurs, 1000, 500), made_system(kPeer, 100)}};
    CHECK(misfit.ours() == nullptr);
    CHECK_FALSE(relative_speed(misfit, misfit.systems[1]));
    CHECK_THAT(misfit_words(misfit, misfit.systems[0]).back(), ContainsSubstring("500 tokens/s"));
}

TEST_CASE("compare: where ours does not fit or is not asked for, the fastest that fits is named",
          "[compare]") {
    const Comparison misfit{{made_misfit(kOurs, 1000, 500), made_system(kPeer, 100),
                             made_system(Schedule("fsdp-offload"), 200)}};
    CHECK(verdict(misfit) == Sentences{"streamed does not fit with the given settings (with "
                                       "--batch 5: 500 tokens/s); the fastest "
                                       "that fits is fsdp-offload: 200 tokens/s"});
    const Comparison others{{made_system(kPeer, 300), made_system(Schedule("megatrain"), 200)}};
    CHECK(verdict(others) == Sentences{"the fastest that fits is zero3-offload: 300 tokens/s"});
    const Comparison nobody{{made_misfit(kOurs, 1000, 500), made_misfit(kPeer, 100, 50)}};
    CHECK(verdict(nobody) == Sentences{"no system fits with the given settings"});
}

TEST_CASE("compare: a faster system with other states is said to have them", "[compare]") {
    const Comparison c{{made_system(kOurs, 1000), made_system(Schedule("resident"), 1500)}};
    CHECK(verdict(c) == Sentences{"resident is faster than streamed: 1,500 tokens/s against 1,000, "
                                  "1.50x, in over 99 of 100 cases; it keeps bf16 master + bf16 "
                                  "moments, streamed fp32 master + fp32 moments"});
    TrainingSpec small_states;
    small_states.state_bytes = 6;
    CHECK(states_of(small_states) == "fp32 master + 8-bit moments");
    small_states.state_bytes = 8;
    CHECK(states_of(small_states) == "fp32 master + bf16 moments");
    small_states.state_bytes = 5;
    CHECK(states_of(small_states) == "24-bit master + 8-bit moments");
    small_states.state_bytes = 4;
    CHECK(states_of(small_states) == "bf16 master + 8-bit moments");
}

TEST_CASE("compare: nothing near fits is stated as such", "[compare]") {
    Comparison c{{made_misfit(kOurs, 1000, 500)}};
    c.systems[0].report.advice.suggestions.clear();
    c.systems[0].suggested_tokens_per_s.reset();
    CHECK(misfit_words(c, c.systems[0]).back() ==
          "no nearby setting fits: a smaller model or a larger machine is needed");
}

TEST_CASE("compare: the trend goes from the first to the last count at which a system fits",
          "[compare]") {
    const Comparison few{{made_system(kOurs, 1000), made_system(kPeer, 1100)}};
    const Comparison more{{made_system(kOurs, 800), made_system(kPeer, 400)}};
    const Comparison most{{made_system(kOurs, 600), made_misfit(kPeer, 300, 200)}};
    const std::vector<Comparison> all = {with_layers(few, 4), with_layers(more, 8),
                                         with_layers(most, 16)};
    CHECK(trend(all) ==
          Sentences{"zero3-offload: 1.10x of streamed with 4 layers, 0.50x with 8; it is "
                    "faster with 4"});
}

TEST_CASE("compare: each assumption stands once, with the systems that rest on it", "[compare]") {
    Comparison c{{made_system(kOurs, 1000), made_system(kPeer, 900)}};
    c.systems[0].report.plan.assumptions = {"of all"};
    c.systems[1].report.plan.assumptions = {"of all", "of PyTorch"};
    const std::vector<SharedAssumption> shared = shared_assumptions(c);
    REQUIRE(shared.size() == 2);
    CHECK(shared[0].sentence == "of all");
    CHECK(shared[0].systems == Sentences{"streamed", "zero3-offload"});
    CHECK(shared[1].systems == Sentences{"zero3-offload"});
}

TEST_CASE("compare: the bound is the lane with most of the critical path", "[compare]") {
    const auto [lane, share] = bound_of(made_system(kOurs, 1000).report);
    CHECK(lane == Work::optimizer);
    CHECK(share == 0.75);
}

TEST_CASE("compare: what no program trains today does not win, unless it is asked for",
          "[compare]") {
    Comparison c{{made_system(kOurs, 1000), made_system(kPeer, 1500),
                  made_system(Schedule("fsdp-offload"), 1300)}};
    c.systems[1].report.asked.runs_today = {"P", "P has no experts", "its README, 2026-11-23"};
    CHECK(verdict(c) ==
          Sentences{"fsdp-offload is faster than streamed: 1,300 tokens/s against 1,000, 1.30x, "
                    "in over 99 of 100 cases",
                    "not counted, since no program trains this way here today: zero3-offload (P "
                    "has no experts)"});
    c.systems[0].report.asked.runs_today = c.systems[1].report.asked.runs_today;
    CHECK(verdict(c) ==
          Sentences{"the fastest that fits and runs today is fsdp-offload: 1,300 tokens/s",
                    "not counted, since no program trains this way here today: streamed, "
                    "zero3-offload (P has no experts)"});
    CHECK(relative_speed(c, c.systems[1]) == Approx(1.5));
    const std::string text = comparison_text(std::span(&c, 1));
    CHECK_THAT(text, ContainsSubstring("NO") && ContainsSubstring("--planned-too counts them\n"));
    c.planned_too = true;
    CHECK(verdict(c).front().starts_with("zero3-offload is faster than streamed: 1,500"));
    CHECK(not_today(c).empty());
    Comparison none{{made_system(kOurs, 1000), made_misfit(kPeer, 500, 800)}};
    none.systems[0].report.asked.runs_today.why_not = "P has no experts";
    CHECK(verdict(none).front() == "no system that fits runs here today");
}
