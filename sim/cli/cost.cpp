#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/cli/commands.h"
#include "sim/cli/money_flags.h"
#include "sim/cli/scenario.h"
#include "sim/simulate/predict.h"
#include "sim/simulate/prediction_band.h"

namespace sluice {
namespace {

struct CostFlags {
    ScenarioFlags scenario;
    CostQuery query;
    bool json = false;
};

int run_cost_command(const CostFlags& flags) {
    check_money_flags(flags.query);
    std::vector<std::string> changes;
    const MachineProfile profile = read_profile_flags(flags.scenario.machine, changes);
    const MachineSpec machine = resolve_machine_flags(profile, flags.scenario.machine);
    const ModelSpec model = read_model_flags(flags.scenario.model);
    const TrainingSpec training = read_training_flags(flags.scenario.training);
    StepReport report = predict(model, machine, training);
    report.machine_changes = changes;
    add_band(report, model, machine, training);
    const CostAnswer answer =
        answer_cost(report, machine, machine_money(profile, machine, flags.query), flags.query);
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
    command->callback([&chosen, flags] { chosen = [flags] { return run_cost_command(*flags); }; });
}

}  // namespace sluice
