#include "sim/cli/money_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {

void add_money_flags(CLI::App& command, CostQuery& query) {
    for (const MoneyOption& option : money_options()) {
        const auto set = [&option, &query](const std::string& text) {
            set_money(query, option, text, money_flag(option));
        };
        CLI::Option* const flag =
            option.kind == MoneyOption::Kind::flag
                ? command.add_flag_callback(money_flag(option), [set] { set("1"); })
                : command.add_option_function<std::string>(money_flag(option), set);
        flag->description(money_help(option))->group("Money and energy");
    }
}

void take_money(const PlannedScenario& planned, const CLI::App& command, CostQuery& query) {
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        const std::string flag = money_flag(option);
        if (given != planned.money.end() && command.count(flag) == 0)
            set_money(query, option, given->second, flag);
    }
}

void refuse_one_price(const CostQuery& query, const std::string& words) {
    for (const auto& [flag, given] : {std::pair("--usd-per-hour", query.usd_per_hour),
                                      std::pair("--price-usd", query.price_usd)})
        if (given)
            throw InputError(fmt::format("{} is {:g}, one price for {}", flag, *given, words));
}

}  // namespace sluice
