#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/answers/cost/cost_query.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

struct CostFlags {
    ScenarioFlags scenario;
    bool json = false;
};

int run_cost_command(const CostFlags& flags) {
    const Scenario scenario = resolve(asked_scenario(flags.scenario));
    const MachineSpec& machine = scenario.machine;
    const Prediction report =
        predict(scenario.model, machine, scenario.training, {.band = Wanted::Band::always});
    const CostAnswer answer = answer_cost(
        report, machine, machine_money(scenario.profile, machine, scenario.money), scenario.money);
    if (scenario.money.buy && !answer.payment)
        throw InputError(
            fmt::format("--buy: the profile of {} has no price; give --price-usd", machine.id));
    std::fputs((flags.json ? cost_json(answer, report) : cost_text(answer, report)).c_str(),
               stdout);
    return 0;
}

}  // namespace

void add_cost(CLI::App& app, Command& chosen) {
    CLI::App* const command =
        app.add_subcommand("cost", "What do a million tokens and a run cost: dollars, kWh, days?");
    const auto flags = std::make_shared<CostFlags>();
    add_scenario_flags(*command, flags->scenario);
    add_money_flags(*command, flags->scenario);
    command->add_flag("--json", flags->json, "everything as JSON; keys carry units")
        ->group("Output");
    command->callback([&chosen, flags] { chosen = [flags] { return run_cost_command(*flags); }; });
}

}  // namespace sluice
