#include <fmt/format.h>

#include <set>

#include "sim/answers/cost/full_node.h"
#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

struct CostFlags {
    ScenarioFlags scenario;
    PlanFlag plan;
    bool json = false, csv = false;
};

int run_cost_command(const CostFlags& flags) {
    check_outputs(flags.json, flags.csv, {}, {});
    const PlannedScenario asked = asked_scenario(flags.scenario);
    const Scenario scenario = resolve(asked);
    const std::set<std::string> given = given_options(asked);
    const MachineSpec& machine = scenario.machine;
    const CostQuery& query = scenario.money;
    const MachineMoney money = machine_money(scenario.profile, machine, query);
    const Prediction report = with_progress("cost", [&] {
        return predict(scenario.model, machine, scenario.training,
                       {.band = Wanted::Band::always,
                        .suggestions = true,
                        .prices = prices_to_choose_by(scenario.profile, query),
                        .chosen_beside = flags.plan.chooses(flags.scenario) ? &given : nullptr});
    });
    const CostAnswer answer = answer_cost(report, machine, money, query);
    if (query.buys() && !answer.payment)
        throw InputError(fmt::format("--ownership buy on {}: {}", machine.id, answer.missing));
    if (query.owns() && !answer.payment)
        throw InputError(fmt::format(
            "--ownership own on {}: its power is not known, so its electricity cannot be counted; "
            "give power.supply_w in a profile of your own",
            machine.id));
    const auto together = full_node(report, machine, money, query);
    return print(flags.json  ? cost_json(answer, report, together)
                 : flags.csv ? cost_csv(answer, report, together)
                             : folded(cost_text(answer, report, together)));
}

}  // namespace

void add_cost(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "cost", "How much do a million tokens and a run cost: dollars, kWh, days?",
        run_cost_command);
    add_scenario_flags(*command, flags->scenario);
    add_plan_flag(*command, flags->plan);
    add_money_flags(*command, flags->scenario);
    add_json_flag(*command, flags->json);
    command->add_flag("--csv", flags->csv, "one line for each way to pay")->group("Output");
}

}  // namespace sluice
