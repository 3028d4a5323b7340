#include "sim/answers/search/sensitivity.h"

#include "sim/cli/commands.h"
#include "sim/cli/flags.h"
#include "sim/cli/progress.h"
#include "sim/command_line/help.h"
#include "sim/command_line/scenario.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/report/to_svg.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

struct SensitivityFlags {
    ScenarioFlags scenario;
    PlanFlag plan;
    std::string gpu;
    bool json = false;
    std::optional<std::string> svg_file;
};

int run_sensitivity(const SensitivityFlags& flags) {
    std::vector<std::string> inputs = input_files(flags.scenario);
    inputs.push_back(flags.gpu);
    check_outputs(flags.json, false, {{"--svg", flags.svg_file}}, inputs);
    if (!flags.gpu.empty())
        read_machine_profile(flags.gpu, "--next-gpu");  // first, to refuse an unknown one
    const PlannedScenario asked = asked_scenario(flags.scenario);
    const Scenario s = resolve(asked);
    const bool chooses = flags.plan.chooses(flags.scenario);
    const Sensitivity all = with_progress("sensitivity", [&] {
        return sensitivity(s.model, s.profile, s.machine, s.training, flags.gpu,
                           chooses ? given_options(asked) : std::set<std::string>{},
                           chooses ? Plans::chosen : Plans::given,
                           price_list(s.profile, s.money.quotes));
    });
    if (flags.svg_file) write_file(*flags.svg_file, to_svg(bars_picture(upgrade_bars(all))));
    return print(flags.json ? sensitivity_json(all) : folded(sensitivity_text(all)));
}

}  // namespace

void add_sensitivity(CLI::App& app, Command& chosen) {
    const auto [command, flags] = add_command(
        app, chosen, "sensitivity",
        "How much would more memory, a faster link, more cores or the next GPU gain here?",
        run_sensitivity);
    add_scenario_flags(*command, flags->scenario);
    add_option(*command, {"--next-gpu", "NAME"}, flags->gpu,
               "a machine whose GPU is tried; default: the next one of the library");
    add_plan_flag(*command, flags->plan);
    add_quotes_flag(*command, flags->scenario);
    add_json_flag(*command, flags->json);
    add_option(*command, {"--svg", "FILE", "Output"}, flags->svg_file,
               "write the gains as a tornado picture");
}

}  // namespace sluice
