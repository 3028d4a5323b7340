#include "sim/cli/money_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/input_error.h"

namespace sluice {
namespace {

void check_number(const char* flag, double value, double low, double high) {
    if (value >= low && value <= high) return;
    throw InputError(
        fmt::format("{} is {:g}, expected a number from {:g} to {:g}", flag, value, low, high));
}

void check_one_payment(const CostQuery& query) {
    std::vector<std::string> given;
    if (query.offer) given.emplace_back("--offer");
    if (query.usd_per_hour) given.emplace_back("--usd-per-hour");
    if (query.buy || query.price_usd) given.emplace_back("--buy or --price-usd");
    if (given.size() > 1)
        throw InputError(
            fmt::format("{} are two ways to pay; give one", fmt::join(given, " and ")));
}

}  // namespace

void add_money_flags(CLI::App& command, CostQuery& query) {
    const auto add = [&command](const char* name, auto& value, const std::string& help) {
        command.add_option(name, value, help)->group("Money and energy");
    };
    const OwnerTerms terms;
    add("--tokens", query.tokens, "of the run; 1e9 by default");
    add("--offer", query.offer,
        "pay this offer of the profile, as in --offer Nebius; default: the middle one of those "
        "rented");
    add("--usd-per-hour", query.usd_per_hour, "pay that an hour, electricity included");
    command.add_flag("--buy", query.buy, "pay as an owner, at the profile's price")
        ->group("Money and energy");
    add("--price-usd", query.price_usd, "pay as an owner, at this price of the whole machine");
    add("--years", query.terms.years, fmt::format("of an owner's use; default {:g}", terms.years));
    add("--utilization", query.terms.utilization,
        fmt::format("share of an owner's hours in which it trains; default {:g}",
                    terms.utilization));
    add("--electricity-usd-per-kwh", query.terms.electricity_usd_per_kwh,
        fmt::format("of an owner; default {:g}, the average of commercial customers in the United "
                    "States",
                    terms.electricity_usd_per_kwh));
    add("--power-usage-effectiveness", query.terms.power_usage_effectiveness,
        fmt::format("an owner's facility over the machine; default {:g}",
                    terms.power_usage_effectiveness));
    add("--host-watts", query.host_w, "what the machine draws beside its GPU");
    add("--gpus-paid", query.gpus_paid,
        "GPUs of the rented nodes that are paid; default: those that train");
}

void check_money_flags(const CostQuery& query) {
    check_one_payment(query);
    check_number("--tokens", query.tokens, 1, 1e18);
    if (query.usd_per_hour) check_number("--usd-per-hour", *query.usd_per_hour, 1e-4, 1e7);
    if (query.price_usd) check_number("--price-usd", *query.price_usd, 1, 1e10);
    check_number("--years", query.terms.years, 0.1, 100);
    check_number("--utilization", query.terms.utilization, 1e-3, 1);
    check_number("--electricity-usd-per-kwh", query.terms.electricity_usd_per_kwh, 0, 100);
    check_number("--power-usage-effectiveness", query.terms.power_usage_effectiveness, 1, 10);
    if (query.host_w) check_number("--host-watts", *query.host_w, 0, 1e6);
    if (query.gpus_paid) check_number("--gpus-paid", *query.gpus_paid, 1, 1e6);
}

void refuse_one_price(const CostQuery& query, const std::string& words) {
    for (const auto& [flag, given] : {std::pair("--usd-per-hour", query.usd_per_hour),
                                      std::pair("--price-usd", query.price_usd)})
        if (given)
            throw InputError(fmt::format("{} is {:g}, one price for {}", flag, *given, words));
}

}  // namespace sluice
