#include "sim/specs/scenario/planned_scenario.h"

#include <fmt/format.h>

#include <string_view>
#include <tuple>

#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

TrainingSpec read_training(const PlannedScenario& planned) {
    TrainingSpec training;
    for (const Option& option : training_options()) {
        const auto given = planned.training.find(option.field);
        if (given == planned.training.end()) continue;
        in_field(option.field,
                 [&] { set_option(training, option, given->second, option_flag(option)); });
    }
    in_field("schedule", [&] { check_training_spec(training); });
    return training;
}

CostQuery read_money(const PlannedScenario& planned) {
    CostQuery query;
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        if (given == planned.money.end()) continue;
        in_field(option.field,
                 [&] { set_money(query, option, given->second, money_flag(option)); });
    }
    in_field("offer", [&] { check_money(query); });
    return query;
}

std::string quoted(const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string out = "'";
    for (const char letter : word) letter == '\'' ? out += "'\\''" : out += letter;
    return out + "'";
}

}  // namespace

bool ask_the_same(const PlannedScenario& a, const PlannedScenario& b) {
    const auto asked = [](const PlannedScenario& one) {
        return std::tie(one.model, one.machine, one.training, one.money);
    };
    return asked(a) == asked(b);
}

Scenario resolve(const PlannedScenario& planned) {
    Scenario out;
    in_field("model", [&] {
        if (planned.model.model.empty())
            throw InputError("--model is missing; name one of: sluice models");
        out.model = read_model_flags(planned.model);
    });
    in_field("machine", [&] {
        if (planned.machine.machine.empty())
            throw InputError("--machine is missing; name one of: sluice machines");
        out.profile = read_profile_flags(planned.machine);
        out.machine = resolve_machine_flags(out.profile, planned.machine);
    });
    out.training = read_training(planned);
    out.money = read_money(planned);
    return out;
}

std::string command_line(const PlannedScenario& planned, const std::string& command) {
    std::string out = command == "predict" ? "./dev predict" : "./dev run sluice " + command;
    const auto add = [&out](const std::string& flag, const std::string& value) {
        out += " " + flag + " " + quoted(value);
    };
    add("--model", planned.model.model);
    if (planned.model.layers) add("--layers", *planned.model.layers);
    if (planned.model.untied) out += " --untied";
    add("--machine", planned.machine.machine);
    if (planned.machine.host_memory) add("--host-memory", *planned.machine.host_memory);
    for (const std::string& setting : planned.machine.settings) add("--set", setting);
    for (const Option& option : training_options())
        if (const auto given = planned.training.find(option.field); given != planned.training.end())
            add(option_flag(option), given->second);
    if (command != "cost") return out;
    for (const MoneyOption& option : money_options()) {
        const auto given = planned.money.find(option.field);
        if (given == planned.money.end()) continue;
        if (option.kind != MoneyOption::Kind::flag) add(money_flag(option), given->second);
        if (option.kind == MoneyOption::Kind::flag && given->second == "1")
            out += " " + money_flag(option);
    }
    return out;
}

}  // namespace sluice
