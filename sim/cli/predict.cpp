#include "sim/answers/predict/predict.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "sim/base/input_error.h"
#include "sim/cli/commands.h"
#include "sim/command_line/scenario.h"
#include "sim/report/report.h"
#include "sim/report/timeline_picture.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

struct PredictFlags {
    ScenarioFlags scenario;
    bool json = false;
    std::optional<std::string> trace_file, timeline_file;
};

void check_files(const PredictFlags& flags) {
    for (const auto& file : {flags.trace_file, flags.timeline_file}) {
        if (file && file->empty())
            throw InputError("--trace and --timeline need the name of a file, not an empty one");
    }
    if (flags.trace_file && flags.trace_file == flags.timeline_file)
        throw InputError(
            fmt::format("--trace and --timeline are both {}; give two names", *flags.trace_file));
}

int run_predict(const PredictFlags& flags) {
    check_files(flags);
    const Scenario s = resolve(asked_scenario(flags.scenario));
    const Prediction prediction = predict(s.model, s.machine, s.training,
                                          {.band = Wanted::Band::always,
                                           .suggestions = true,
                                           .remedies = true,
                                           .prices = &s.profile});
    if (flags.trace_file) write_file(*flags.trace_file, report_chrome_trace(prediction));
    if (flags.timeline_file) write_file(*flags.timeline_file, to_svg(step_picture(prediction)));
    const std::string text = flags.json ? report_json(prediction) : report_text(prediction);
    std::fputs(text.c_str(), stdout);
    return 0;
}

int run_explain(const ScenarioFlags& flags) {
    const Scenario s = resolve(asked_scenario(flags));
    std::fputs(report_operations(predict(s.model, s.machine, s.training)).c_str(), stdout);
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
