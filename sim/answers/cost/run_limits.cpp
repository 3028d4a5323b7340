#include "sim/answers/cost/run_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"

namespace sluice {
std::string limits_name(const RunLimits& limits) {
    if (limits.days) return limits.usd ? "the deadline and the budget" : "the deadline";
    return limits.usd ? "the budget" : "";
}

std::string limits_words(const RunLimits& limits) {
    std::string out;
    if (limits.days)
        out += fmt::format(" in {:g} {}", *limits.days, *limits.days == 1 ? "day" : "days");
    if (limits.usd) out += fmt::format(" for at most {}", format_usd(*limits.usd));
    return out;
}

bool ends_in_time(const RunLimits& limits, const RunCost& run) {
    return !limits.days || run.days.value <= *limits.days;
}

bool meets(const RunLimits& limits, const RunCost& run, bool priced) {
    return ends_in_time(limits, run) && (!limits.usd || (priced && run.spent.value <= *limits.usd));
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
    else if (run.spent.value > *limits.usd)
        out.push_back(fmt::format(
            "It costs {} more than the budget{}.", format_usd(run.spent.value - *limits.usd),
            run.usd_at_once > 0
                ? fmt::format(", since {} are paid at once, of which this run's "
                              "part is {}",
                              format_usd(run.usd_at_once), format_usd(run.usd.value))
                : ""));
    else if (run.spent.high > *limits.usd)
        out.push_back(fmt::format("It may miss the budget: one run in 20 costs more than {}.",
                                  format_usd(run.spent.high)));
    return out;
}

double tokens_within(const RunLimits& limits, const RunCost& run, bool priced) {
    double out = run.most_hours * kHour * run.tokens_per_s;
    if (limits.days) out = std::min(out, *limits.days * kDay * run.tokens_per_s);
    if (!limits.usd) return out;
    if (!priced) return 0;
    const double left = *limits.usd - run.usd_at_once;
    const double usd_per_token = run.usd_per_hour_after / kHour / run.tokens_per_s;
    if (left < 0) return 0;
    return usd_per_token == 0 ? out : std::min(out, left / usd_per_token);
}

RunCost run_of_tokens(RunCost run, double tokens) {
    const double factor = tokens / run.tokens;
    const auto scale = [factor](Banded& one) {
        one = {one.value * factor, one.low * factor, one.high * factor};
    };
    for (Banded* one : {&run.days, &run.usd}) scale(*one);
    if (run.kwh) scale(*run.kwh);
    const auto spent = [&](double one) {
        return run.usd_at_once + (one - run.usd_at_once) * factor;
    };
    run.spent = {spent(run.spent.value), run.spent.high > 0 ? spent(run.spent.low) : 0,
                 run.spent.high > 0 ? spent(run.spent.high) : 0};
    run.tokens = tokens;
    return run;
}

}  // namespace sluice
