#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/answers/cost/cost_query.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/money_flags.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

struct CostFlags {
    ScenarioFlags scenario;
    CostQuery query;
    bool json = false;
};

int run_cost_command(const CostFlags& flags) {
    check_money(flags.query);
    const Scenario scenario = read_scenario(flags.scenario);
    const MachineSpec& machine = scenario.machine;
    const Prediction report =
        predict(scenario.model, machine, scenario.training, {.band = Wanted::Band::always});
    const CostAnswer answer = answer_cost(
        report, machine, machine_money(scenario.profile, machine, flags.query), flags.query);
    if (flags.query.buy && !answer.payment)
        throw InputError(
            fmt::format("--buy: the profile of {} has no price; give --price-usd", machine.id));
    std::fputs((flags.json ? cost_json(answer) : cost_text(answer)).c_str(), stdout);
    return 0;
}

}  // namespace

void add_cost(CLI::App& app, Command& chosen) {
    CLI::App* const command =
        app.add_subcommand("cost", "What do a million tokens and a run cost: dollars, kWh, days?");
    const auto flags = std::make_shared<CostFlags>();
    add_scenario_flags(*command, flags->scenario);
    add_money_flags(*command, flags->query);
    command->add_flag("--json", flags->json, "everything as JSON; keys carry units")
        ->group("Output");
    command->callback([&chosen, flags, command] {
        if (flags->scenario.planned) take_money(*flags->scenario.planned, *command, flags->query);
        chosen = [flags] { return run_cost_command(*flags); };
    });
}

}  // namespace sluice
