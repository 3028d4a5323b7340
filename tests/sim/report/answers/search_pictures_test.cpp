// How much do upgrades gain, as bars and in a sentence?
#include "sim/answers/search/sensitivity.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/answers/compare/made_comparison.h"

namespace sluice {

TEST_CASE("tornado: a bar an upgrade, grey where the gain is not sure", "[search]") {
    Sensitivity all;
    all.base = made_system(Schedule("streamed"), 1000).report;
    Upgrade sure, unsure;
    sure.name = "link";
    sure.report = made_system(Schedule("streamed"), 1200).report;
    sure.report.step.critical_shares = {};
    sure.report.step.critical_shares[Work::compute] = 1;
    sure.gain = 0.2;
    sure.gain_low = 0.1;
    sure.gain_high = 0.3;
    unsure = sure;
    unsure.name = "cores";
    unsure.gain = -0.0001;
    unsure.gain_low = -0.01;
    all.upgrades = {sure, unsure};
    const BarChart chart = upgrade_bars(all);
    const std::vector<Bar>& bars = chart.groups.front().bars;
    REQUIRE(bars.size() == 2);
    CHECK(chart.percent);
    CHECK(bars[0].colour == paint(Role::pointed_out));
    CHECK(bars[0].label == std::string("+20.0% (GPU compute)"));
    CHECK(bars[1].colour == paint(Role::misfit));
    CHECK(bars[1].label.starts_with("+0.0%"));
    CHECK(sensitivity_sentence(all) ==
          std::string("1,000 tokens/s, bound by optimizer. Most is gained by link: +20.0%, "
                      "then bound by GPU compute."));
    all.upgrades = {unsure};
    CHECK(sensitivity_sentence(all).ends_with(("None of the changes gains speed.")));
}

}  // namespace sluice
