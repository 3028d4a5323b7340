// How are money, time and energy of a run said?
#include <fmt/format.h>

#include "sim/answers/cost/cost.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

// Shorter runs are given in hours, or in minutes.
constexpr double kDaysFrom = 2, kHoursFrom = 1.0 / 24;

/// Three digits, of a hundred and more all.
std::string few_digits(double value) {
    return value >= 100 ? format_thousands(value) : fmt::format("{:.3g}", value);
}

std::string with_range(const Banded& number, const std::string& unit, const char* range) {
    const std::string out = fmt::format("{} {}", few_digits(number.value), unit);
    if (number.high == 0) return out;
    return fmt::format("{} ({}: {} to {})", out, range, few_digits(number.low),
                       few_digits(number.high));
}

std::string break_even_words(const CostAnswer& answer) {
    const double years = answer.terms.years;
    if (answer.break_even && answer.break_even->months <= 12 * years)
        return fmt::format(
            "costs no more than renting after {:.3g} months with {} hours of training",
            answer.break_even->months, format_thousands(answer.break_even->hours));
    if (answer.bought->run.usd_per_hour <= answer.rent->run.usd_per_hour)
        return fmt::format(
            "costs no more than renting once the machine is sold after {:g} years for {} of its "
            "price",
            years, format_percent(answer.terms.residual_share));
    return fmt::format("costs more than renting in all of its {:g} years", years);
}

}  // namespace

std::string buying_words(const CostAnswer& answer) {
    const std::string out = break_even_words(answer);
    const std::optional<double>& budget = answer.limits.usd;
    const double usd = answer.bought->run.spent.value;
    if (!budget || usd <= *budget) return out;
    return fmt::format("{}; all of its {} exceeds the budget of {}", out, format_usd(usd),
                       format_usd(*budget));
}

std::string format_kwh(const RunCost& run) {
    const EnergyTerms& terms = energy_terms(run.kwh_scope);
    return with_range(*run.kwh, fmt::format("kWh{}", terms.energy), terms.range);
}

std::string format_usd(const Banded& usd) {
    if (usd.high == 0) return format_usd(usd.value);
    return fmt::format("{} (5 to 95%: {} to {})", format_usd(usd.value), format_usd(usd.low),
                       format_usd(usd.high));
}

std::string format_banded(const Banded& number, const char* unit) {
    return with_range(number, unit, "5 to 95%");
}

std::string format_days(const Banded& days) {
    if (days.value >= kDaysFrom) return format_banded(days, "days");
    const double hours = 24, minutes = 24 * 60;
    const auto times = [&](double parts) {
        return Banded{parts * days.value, parts * days.low, parts * days.high};
    };
    return days.value >= kHoursFrom ? format_banded(times(hours), "hours")
                                    : format_banded(times(minutes), "minutes");
}

}  // namespace sluice
