#include "sim/answers/cost/run_limits.h"

#include <fmt/format.h>

#include "sim/base/format.h"

namespace sluice {

std::string limits_name(const RunLimits& limits) {
    if (limits.days) return limits.usd ? "the deadline and the budget" : "the deadline";
    return limits.usd ? "the budget" : "";
}

std::string limits_words(const RunLimits& limits) {
    std::string out;
    if (limits.days) out += fmt::format(" in {:g} days", *limits.days);
    if (limits.usd) out += fmt::format(" for at most {}", format_usd(*limits.usd));
    return out;
}

bool ends_in_time(const RunLimits& limits, const RunCost& run) {
    return !limits.days || run.days.value <= *limits.days;
}

bool meets(const RunLimits& limits, const RunCost& run, bool priced) {
    return ends_in_time(limits, run) && (!limits.usd || (priced && run.usd.value <= *limits.usd));
}

std::vector<std::string> limit_warnings(const RunLimits& limits, const RunCost& run, bool priced) {
    std::vector<std::string> out;
    if (limits.days && run.days.value > *limits.days)
        out.push_back(fmt::format("It ends {} after the deadline.",
                                  format_days({run.days.value - *limits.days})));
    else if (limits.days && run.days.high > *limits.days)
        out.push_back(fmt::format("It may miss the deadline: one run in 20 takes more than {}.",
                                  format_days({run.days.high})));
    if (!limits.usd) return out;
    if (!priced)
        out.push_back("Whether it stays within the budget is not known, since no price is known.");
    else if (run.usd.value > *limits.usd)
        out.push_back(fmt::format("It costs {} more than the budget.",
                                  format_usd(run.usd.value - *limits.usd)));
    else if (run.usd.high > *limits.usd)
        out.push_back(fmt::format("It may miss the budget: one run in 20 costs more than {}.",
                                  format_usd(run.usd.high)));
    return out;
}

}  // namespace sluice
