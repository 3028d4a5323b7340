#include "engine/cli/run_plan.h"

#include <fmt/format.h>

#include <exception>

#include "engine/train/chosen_plan.h"
#include "engine/train/progress.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

void refuse_two_plans(const TrainFlags& flags) {
    if (flags.plan && flags.plan != kAuto && !flags.scenario.given.machine.machine.empty())
        throw InputError(fmt::format(
            "--machine {}: the planner chooses for it, so --plan may be auto, but not {}",
            flags.scenario.given.machine.machine, *flags.plan));
}

/// A prediction's file gives all settings.
RunPlan read_plan(const TrainFlags& flags) {
    RunPlan plan{flags.scenario.given, read_expected_step(*flags.plan), true};
    std::string other = flags.scenario.training_file ? "--training" : "";
    for (const Option& option : training_options())
        if (plan.asked.training.contains(option.field)) other = option_flag(option);
    if (!other.empty())
        throw InputError(
            fmt::format("--plan {}: gives all settings, so {} may not be given; predict with it",
                        *flags.plan, other));
    plan.asked.training = plan.expected->training;
    return plan;
}

/// Settings given now go before those of the checkpoint.
RunPlan kept_plan(const PlannedScenario& given, const SavedPlan& saved) {
    RunPlan plan{given, std::nullopt, true};
    plan.asked.training.insert(saved.training.begin(), saved.training.end());
    try {
        read_training(plan);
    } catch (const InputError& error) {
        throw InputError(
            fmt::format("{}; options that are not given are those of {}; --plan auto chooses "
                        "others",
                        error.what(), saved.folder));
    }
    const auto settings = changed_settings(training_values(given), training_values(plan.asked));
    say(fmt::format("plan of {}: {}; --plan auto chooses another\n", saved.folder,
                    settings.empty() ? "as given" : setting_flags(settings)));
    return plan;
}

}  // namespace

RunPlan asked_plan(const TrainFlags& flags, const std::optional<SavedPlan>& saved) {
    refuse_two_plans(flags);
    if (flags.plan && !names_no_file(*flags.plan)) return read_plan(flags);
    const PlannedScenario given = asked_scenario(flags.scenario);
    if (saved && !flags.plan) return kept_plan(given, *saved);
    return {given, std::nullopt, false};
}

TrainingSpec read_training(const RunPlan& plan) { return read_training(plan.asked); }

RunPlan planned_run(RunPlan plan, const TrainFlags& flags, const DeviceFacts& device) {
    if (flags.plan == kGiven || plan.expected) return plan;
    const auto& host_memory = flags.settings.host_memory;
    const auto ask = [&](SettingsOf settings) {
        return plan.asked.machine.machine.empty()
                   ? choose_step_here(plan.asked, settings, device, host_memory)
                   : choose_step(plan.asked, settings, host_memory);
    };
    if (!plan.is_chosen) {
        plan.expected = ask(SettingsOf::planner);
        if (plan.expected) plan.asked.training = plan.expected->training;
        return plan;
    }
    if (!plan.asked.machine.machine.empty()) read_machine(plan.asked.machine);  // or refuses it
    try {
        plan.expected = ask(SettingsOf::schedule);
    } catch (const std::exception& error) {  // it ran before, so that it may run now, too
        say(fmt::format("note: the plan is not predicted: {}\n", error.what()));
    }
    return plan;
}

}  // namespace sluice
