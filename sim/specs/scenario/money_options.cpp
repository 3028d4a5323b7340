#include "sim/specs/scenario/money_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

using Kind = MoneyOption::Kind;

/// set_member<&CostQuery::terms, &OwnerTerms::years>
template <auto... Fields>
void set_member(CostQuery& query, double number, const std::string&) {
    (query.*....*Fields) = number;
}

std::vector<MoneyOption> declare_money_options() {
    const OwnerTerms terms;
    const auto number = [](double value) { return fmt::format("{:g}", value); };
    return {
        {"tokens", "tokens", Kind::number, 1, 1e18, "tokens of the run, as 2e9 or 2B", "1e9",
         set_member<&CostQuery::tokens>},
        {"days", "days", Kind::number, 1e-3, 1e5, "days until the run must have ended", "any",
         set_member<&CostQuery::limits, &RunLimits::days>},
        {"budget_usd", "$", Kind::number, 1e-2, 1e12, "dollars that the whole run may cost", "any",
         set_member<&CostQuery::limits, &RunLimits::usd>},
        {"offer",
         "",
         Kind::text,
         0,
         0,
         "use the price of this offer in the profile, as in --offer Nebius",
         "the median of the rents, of an even number the cheaper middle one",
         [](CostQuery& query, double, const std::string& text) { query.offer = text; },
         {},
         "the offer of the profile to pay [the median of the rents]",
         "NAME"},
        {"quotes",
         "",
         Kind::text,
         0,
         0,
         "read quotes from a CSV file with the columns machine, provider, date, gpus, and "
         "usd_per_hour for a rent or usd for a purchase, each of all these GPUs with their host",
         "",
         [](CostQuery& query, double, const std::string& text) {
             query.quotes = read_quotes(text);
         },
         {},
         "a CSV file of quotes: machine, provider, date, gpus, usd_per_hour or usd",
         "FILE"},
        {"usd_per_hour", "$ an hour", Kind::number, 1e-4, 1e7,
         "pay this much an hour, electricity included", "", set_member<&CostQuery::usd_per_hour>},
        {"ownership",
         "",
         Kind::choice,
         0,
         0,
         "rent; buy, at the profile's price; or own: the machine is yours and costs its "
         "electricity, with all GPUs of the node",
         "any: rent, or buy where no rent is known",
         [](CostQuery& query, double choice, const std::string&) {
             query.ownership =
                 choice == 0 ? std::nullopt : std::optional(static_cast<Ownership>(choice - 1));
         },
         {"any", ownership_name(Ownership::rent), ownership_name(Ownership::buy),
          ownership_name(Ownership::own)},
         "own: the machine is yours [any]"},
        {"price_usd", "$", Kind::number, 1, 1e10, "pay as an owner, at this price of all machines",
         "", set_member<&CostQuery::price_usd>},
        {"node_usd",
         "$",
         Kind::number,
         0,
         1e10,
         "price of a node with its host memory and without GPUs, where the profile has the price "
         "of "
         "a GPU alone",
         "",
         set_member<&CostQuery::node_usd>,
         {},
         "price of a node with its host memory, without GPUs"},
        {"memory_usd_per_gb", "$ a GB", Kind::number, 0, 1e6,
         "price of host memory beyond that of a system as it is sold", "",
         set_member<&CostQuery::memory_usd_per_gb>},
        {"years", "years", Kind::number, 0.1, 100, "years for which the owner uses the machine",
         number(terms.years), set_member<&CostQuery::terms, &OwnerTerms::years>},
        {"utilization", "", Kind::number, 1e-3, 1,
         "share of the owner's hours in which the machine trains",
         number(terms.utilization) + ", as a survey of servers that train says",
         set_member<&CostQuery::terms, &OwnerTerms::utilization>},
        {"interest", "", Kind::number, 0, 1, "interest a year on what the owner still owes",
         number(terms.interest) + ", the prime rate of banks in the United States",
         set_member<&CostQuery::terms, &OwnerTerms::interest>},
        {"residual_share", "", Kind::number, 0, 1,
         "share of the price for which the owner sells the machine at the end",
         number(terms.residual_share), set_member<&CostQuery::terms, &OwnerTerms::residual_share>},
        {"electricity_usd_per_kwh", "$ a kWh", Kind::number, 0, 100,
         "price of electricity for an owner",
         number(terms.electricity_usd_per_kwh) +
             ", the average of commercial customers in the United States",
         set_member<&CostQuery::terms, &OwnerTerms::electricity_usd_per_kwh>},
        {"power_usage_effectiveness", "", Kind::number, 1, 10,
         "power of the owner's facility over power of the machine (PUE)",
         number(terms.power_usage_effectiveness) + ", the average of a survey of 2025",
         set_member<&CostQuery::terms, &OwnerTerms::power_usage_effectiveness>},
        {"host_watts", "W", Kind::number, 0, 1e6,
         "power that the host draws for each GPU that is paid for", "",
         set_member<&CostQuery::host_w>},
        {"gpus_paid",
         "GPUs",
         Kind::number,
         1,
         1e6,
         "GPUs that are paid for, of the rented nodes; of an own machine and of one that is bought "
         "in parts or at a given price, all that it has",
         "the largest share that the plan takes of its node",
         set_member<&CostQuery::gpus_paid>,
         {},
         "GPUs that are paid for [the plan's share of its node]"},
    };
}

}  // namespace

PriceList prices_to_choose_by(const MachineProfile& profile, const CostQuery& query) {
    PriceList prices = price_list(profile, query.quotes);
    prices.owned = query.owns();
    if (!query.offer) return prices;
    const std::string name = find_offer(prices, *query.offer, profile.id).name;
    std::erase_if(prices.offers, [&](const Offer& one) { return one.name != name; });
    for (Offer& one : prices.offers) one.kind = OfferKind::rented;
    return prices;
}

const std::vector<MoneyOption>& money_options() {
    static const std::vector<MoneyOption> options = declare_money_options();
    return options;
}

const MoneyOption& money_option(std::string_view field) {
    return *std::ranges::find(money_options(), field, &MoneyOption::field);
}

std::string money_flag(const MoneyOption& option) { return field_flag(option.field); }

std::string money_help(const MoneyOption& option) {
    std::string help = option.help;
    if (option.kind == Kind::number) help += fmt::format("; {:g} to {:g}", option.low, option.high);
    if (!option.standard.empty())
        help +=
            fmt::format("{} default {}", option.kind == Kind::number ? "," : ";", option.standard);
    return help;
}

std::string money_brief(const MoneyOption& option) {
    if (option.brief[0] != '\0') return option.brief;
    const std::string& standard = option.standard;
    return standard.empty() ? option.help : fmt::format("{} [{}]", option.help, standard);
}

std::string money_value(const MoneyOption& option) {
    if (option.kind == Kind::number) return "N";
    if (option.kind == Kind::text) return option.value_name;
    return fmt::format("{{{}}}", fmt::join(option.choices, ","));
}

void set_money(CostQuery& query, const MoneyOption& option, const std::string& text,
               std::string_view where) {
    if (option.kind == Kind::text) return option.set(query, 0, text);
    if (option.kind == Kind::choice) {
        const auto at = std::ranges::find(option.choices, text);
        if (at == option.choices.end())
            throw InputError(fmt::format("{} is \"{}\", expected {}{}", where, text,
                                         fmt::join(option.choices, " or "),
                                         did_you_mean(text, option.choices)));
        return option.set(query, static_cast<double>(at - option.choices.begin()), text);
    }
    std::optional<double> number = parse_number(text);
    if (!number && option.kind == Kind::number) number = parse_amount(text);
    if (!number)
        throw InputError(fmt::format("{} is \"{}\", expected a number from {:g} to {:g}", where,
                                     text, option.low, option.high));
    if (!(*number >= option.low && *number <= option.high))
        throw InputError(fmt::format("{} is {:g}, expected a number from {:g} to {:g}", where,
                                     *number, option.low, option.high));
    option.set(query, *number, text);
}

void check_money(const CostQuery& query) {
    std::vector<std::string> given;
    if (query.offer) given.emplace_back("--offer");
    if (query.usd_per_hour) given.emplace_back("--usd-per-hour");
    if (query.price_usd) given.emplace_back("--price-usd");
    const Ownership implied = query.price_usd ? Ownership::buy : Ownership::rent;
    if (query.ownership && !given.empty() && *query.ownership != implied)
        given.push_back(fmt::format("--ownership {}", ownership_name(*query.ownership)));
    if (given.size() > 1)
        throw InputError(fmt::format("{} are two ways to pay; give one", fmt::join(given, " and ")),
                         query.ownership ? "ownership" : "offer");
}

void refuse_one_price(const CostQuery& query, const std::string& words) {
    for (const auto& [flag, given] : {std::pair("--usd-per-hour", query.usd_per_hour),
                                      std::pair("--price-usd", query.price_usd)})
        if (given)
            throw InputError(fmt::format("{} is {:g}, one price for {}", flag, *given, words));
}

}  // namespace sluice
