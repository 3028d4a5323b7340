#include "sim/answers/predict/scenario_prediction.h"
#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/report/report.h"
#include "sim/report/table.h"
#include "sim/report/timeline_picture.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

/// Flags that predict and explain share.
struct PlanFlags {
    ScenarioFlags scenario;
    PlanFlag plan;
};

struct PredictFlags {
    PlanFlags asked;
    bool json = false;
    std::optional<std::string> trace_file, timeline_file;
};

struct ExplainFlags {
    PlanFlags asked;
    bool json = false;
};

/// Options that the user gave do not change.
SettingsOf settings_of(const PlanFlags& flags) {
    if (!flags.plan.chooses(flags.scenario)) return SettingsOf::schedule;
    return flags.plan.as_users_run ? SettingsOf::users : SettingsOf::planner;
}

Prediction predicted(const char* command, const PlanFlags& flags, const Wanted& wanted) {
    return with_progress(command, [&] {
        return predict_scenario(asked_scenario(flags.scenario), settings_of(flags), wanted);
    });
}

int run_predict(const PredictFlags& flags) {
    check_outputs(flags.json, false,
                  {{"--trace", flags.trace_file}, {"--timeline", flags.timeline_file}},
                  input_files(flags.asked.scenario));
    const Prediction prediction = predicted("predict", flags.asked,
                                            {.band = Wanted::Band::always,
                                             .suggestions = true,
                                             .remedies = true,
                                             .other_rates = flags.json,
                                             .ahead = true});
    if (flags.trace_file) write_file(*flags.trace_file, report_chrome_trace(prediction));
    if (flags.timeline_file) write_file(*flags.timeline_file, to_svg(step_picture(prediction)));
    return print(flags.json ? report_json(prediction) : folded(report_text(prediction)));
}

int run_explain(const ExplainFlags& flags) {
    const Prediction prediction = predicted("explain", flags.asked, {.suggestions = true});
    return print(flags.json
                     ? report_operations_json(prediction)
                     : folded(report_heading(prediction)) + "\n" + report_operations(prediction));
}

void add_plan_flags(CLI::App& command, PlanFlags& flags) {
    add_scenario_flags(command, flags.scenario);
    add_plan_flag(command, flags.plan, true);
    add_quotes_flag(command, flags.scenario);
}

}  // namespace

void add_predict(CLI::App& app, Command& chosen) {
    const auto [command, flags] =
        add_command(app, chosen, "predict", "Does it fit, how fast is it, where does the time go?",
                    run_predict);
    add_plan_flags(*command, flags->asked);
    add_owned_flag(*command, flags->asked.scenario);
    add_json_flag(*command, flags->json);
    add_option(*command, {"--trace", "FILE", "Output"}, flags->trace_file,
               "write the operations as a Chrome trace (opens in Perfetto)");
    add_option(*command, {"--timeline", "FILE", "Output"}, flags->timeline_file,
               "write the lanes over time as SVG");
}

void add_explain(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "explain",
        "The operations of the plan as a table: when, how long, waiting for what", run_explain);
    add_plan_flags(*command, flags->asked);
    add_json_flag(*command, flags->json);
}

}  // namespace sluice
