#include "sim/simulate/predict.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/cli/commands.h"

namespace sluice {
namespace {

struct PredictFlags {
    ScenarioFlags scenario;
    bool json = false;
    std::string trace_file, timeline_file;
};

int run_predict(const PredictFlags& flags) {
    const Scenario scenario = read_scenario(flags.scenario);
    const MachineSpec machine = resolve_machine(scenario.profile);
    StepReport report = predict(scenario.model, machine, scenario.training);
    add_advice(report, scenario.model, machine);
    if (!flags.trace_file.empty()) write_file(flags.trace_file, report_chrome_trace(report));
    if (!flags.timeline_file.empty()) write_file(flags.timeline_file, report_svg(report));
    const std::string text = flags.json ? report_json(report) : report_text(report);
    std::fputs(text.c_str(), stdout);
    return 0;
}

int run_explain(const ScenarioFlags& flags) {
    const Scenario scenario = read_scenario(flags);
    const StepReport report =
        predict(scenario.model, resolve_machine(scenario.profile), scenario.training);
    std::fputs(report_operations(report).c_str(), stdout);
    return 0;
}

}  // namespace

void add_predict(CLI::App& app, Command& chosen) {
    CLI::App* const command =
        app.add_subcommand("predict", "Does it fit, how fast is it, where does the time go?");
    const auto flags = std::make_shared<PredictFlags>();
    add_scenario_flags(*command, flags->scenario);
    command->add_flag("--json", flags->json, "everything as JSON; keys carry units")
        ->group("Output");
    command
        ->add_option("--trace", flags->trace_file,
                     "write the operations as a Chrome trace (opens in Perfetto)")
        ->group("Output");
    command->add_option("--timeline", flags->timeline_file, "write the lanes over time as SVG")
        ->group("Output");
    command->callback([&chosen, flags] { chosen = [flags] { return run_predict(*flags); }; });
}

void add_explain(CLI::App& app, Command& chosen) {
    CLI::App* const command = app.add_subcommand(
        "explain", "The operations of the plan as a table: when, how long, waiting for what");
    const auto flags = std::make_shared<ScenarioFlags>();
    add_scenario_flags(*command, *flags);
    command->callback([&chosen, flags] { chosen = [flags] { return run_explain(*flags); }; });
}

}  // namespace sluice
