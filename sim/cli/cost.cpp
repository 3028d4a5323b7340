#include "sim/answers/cost/cost.h"

#include <fmt/format.h>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
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
    return print(flags.json ? cost_json(answer, report) : cost_text(answer, report));
}

}  // namespace

void add_cost(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "cost", "What do a million tokens and a run cost: dollars, kWh, days?",
        run_cost_command);
    add_scenario_flags(*command, flags->scenario);
    add_money_flags(*command, flags->scenario);
    add_json_flag(*command, flags->json);
}

}  // namespace sluice
