#include "sim/answers/cost/run_cost.h"

#include <fmt/format.h>

#include "sim/base/format.h"

namespace sluice {
namespace {

constexpr double kHour = 3600, kDay = 86400, kJoulesPerKwh = 3.6e6;

/// `of_step` for each of the step's three times.
template <typename OfStep>
Banded banded(const Prediction& report, OfStep of_step) {
    Banded out;
    out.value = of_step(report.step.seconds);
    if (report.band) {
        out.low = of_step(report.band->low);
        out.high = of_step(report.band->high);
    }
    return out;
}

}  // namespace

RunCost run_cost(const Prediction& report, const Payment& payment, double tokens,
                 const std::optional<StepEnergy>& energy, const OwnerTerms& terms) {
    RunCost cost;
    cost.tokens = tokens;
    cost.usd_per_hour = payment.usd_per_hour;
    if (energy) {
        const double watts = energy->total() / report.step.seconds;
        cost.mean_w = watts;
        cost.tokens_per_joule = report.tokens_per_s() / watts;
        cost.tflops_per_kw = report.model_flops_per_s() / kTera / (watts / kKilo);
        if (payment.pays_electricity)
            cost.usd_per_hour +=
                watts / kKilo * terms.power_usage_effectiveness * terms.electricity_usd_per_kwh;
    }
    // A slower step takes proportionally more energy: power is assumed to be the same.
    const auto seconds = [&](Seconds step) { return tokens / report.tokens_per_s_at(step); };
    cost.days = banded(report, [&](Seconds step) { return seconds(step) / kDay; });
    cost.usd =
        banded(report, [&](Seconds step) { return seconds(step) / kHour * cost.usd_per_hour; });
    cost.usd_per_million_tokens = banded(report, [&](Seconds step) {
        return kMega / report.tokens_per_s_at(step) / kHour * cost.usd_per_hour;
    });
    if (cost.mean_w)
        cost.kwh = banded(
            report, [&](Seconds step) { return seconds(step) * *cost.mean_w / kJoulesPerKwh; });
    return cost;
}

Payment rented(const Offer& offer, double gpus) {
    Payment payment;
    payment.name = offer.name;
    payment.origin = fmt::format("{}, {}", offer_kind_name(offer.kind), offer.date);
    payment.usd_per_hour = gpus * offer.usd_per_hour;
    return payment;
}

Payment bought(double price_usd, const std::string& origin, const OwnerTerms& terms) {
    Payment payment;
    payment.name = "bought";
    payment.origin = fmt::format("{} over {:g} years, {} of the hours; {}", format_usd(price_usd),
                                 terms.years, format_percent(terms.utilization), origin);
    payment.usd_per_hour = ownership_usd_per_hour(price_usd, terms);
    payment.pays_electricity = true;
    payment.price_usd = price_usd;
    return payment;
}

std::string format_usd(const Banded& usd) {
    if (usd.high == 0) return format_usd(usd.value);
    return fmt::format("{} (5 to 95%: {} to {})", format_usd(usd.value), format_usd(usd.low),
                       format_usd(usd.high));
}

std::string format_banded(const Banded& number, const char* unit) {
    const auto digits = [](double value) {
        return value >= 100 ? format_thousands(value) : fmt::format("{:.3g}", value);
    };
    if (number.high == 0) return fmt::format("{} {}", digits(number.value), unit);
    return fmt::format("{} {} ({} to {})", digits(number.value), unit, digits(number.low),
                       digits(number.high));
}

}  // namespace sluice
