#include "sim/answers/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"

namespace sluice {
namespace {

/// "compare a system that has it by --schedules megatrain"; GPUs if no system of one has it.
std::string advice_on(const Option& option) {
    std::vector<std::string_view> names;
    for (const Schedule schedule : all_schedules())
        if (has_option(schedule, option)) names.emplace_back(schedule->name);
    if (names.empty()) return "compare GPUs that have it by --cluster MACHINE:GPUS";
    return fmt::format("compare a system that has it by --schedules {}", fmt::join(names, ","));
}

/// A changed option that no compared schedule has would silently change nothing.
void check_options(const TrainingSpec& asked, std::vector<Schedule> schedules, bool clusters) {
    const TrainingSpec standard;
    if (clusters) schedules.push_back(schedule_with(&ScheduleRecord::several_gpus));
    if (asked.gpus != standard.gpus)
        throw InputError(fmt::format(
            "--gpus is {}, but compare takes the GPUs from --cluster MACHINE:GPUS; leave it out",
            asked.gpus));
    for (const Option& option : training_options()) {
        const std::string_view field = option.field;
        if (field == "schedule" || option.get(asked) == option.get(standard)) continue;
        // compared_schedules() leaves none for this reason alone.
        if (schedules.empty() && field != "adapter_rank") continue;
        if (std::any_of(schedules.begin(), schedules.end(),
                        [&](Schedule schedule) { return has_option(schedule, option); }))
            continue;
        throw InputError(
            fmt::format("{} is {}, which none of the compared systems has; {}, or leave it out",
                        option_flag(option), option_text(asked, option), advice_on(option)));
    }
}

bool runs_on(Schedule schedule, const MachineSpec& machine) {
    return !schedule->needs_storage || machine.storage.known();
}

bool same_options(const TrainingSpec& a, const TrainingSpec& b) {
    return std::all_of(training_options().begin(), training_options().end(),
                       [&](const Option& option) { return option.get(a) == option.get(b); });
}

ComparedSystem compare_one(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& asked, const Wanted& wanted) {
    ComparedSystem out;
    out.name = asked.schedule->name;
    if (wanted.chosen_beside != nullptr && (asked.schedule->ours || !wanted.as_users_run)) {
        out.report = predict(model, machine, asked, wanted);
        if (out.fits()) return out;
    }
    TrainingSpec training =
        wanted.as_users_run ? as_users_run(asked, *wanted.chosen_beside) : asked;
    PlannedStep plan = planned_step(plan_step(model, machine, training), machine, training);
    if (const auto fitting =
            plan.fit.fits() ? std::nullopt : whole_batch_that_fits(model, machine, training)) {
        const Fit& fit = plan.fit;
        out.short_of_whole_batch = (machine.unified_memory ? fit.host() : fit.device()).shortfall();
        training = *fitting;
        plan = planned_step(plan_step(model, machine, training), machine, training);
    }
    out.report = predict(std::move(plan), model, machine, training, wanted);
    if (out.report.advice.suggestions.empty()) return out;
    const TrainingSpec& suggested = out.report.advice.suggestions.front().training;
    // Only more host memory, so the step is the same.
    out.suggested_tokens_per_s = same_options(suggested, training)
                                     ? out.report.tokens_per_s()
                                     : predict(model, machine, suggested).tokens_per_s();
    return out;
}

ComparedSystem compare_cluster(const ModelSpec& model, const ClusterToCompare& cluster,
                               const TrainingSpec& asked, Wanted wanted) {
    if (asked.batch % cluster.gpus != 0)
        throw InputError(fmt::format(
            "--batch is {}, expected a multiple of {}, the GPUs of --cluster {}:{}, as each takes "
            "an equal part of it; change one of them",
            asked.batch, cluster.gpus, cluster.machine.id, cluster.gpus));
    TrainingSpec on_all = asked;
    on_all.gpus = cluster.gpus;
    if (asked.micro_batch > on_all.batch_of_a_gpu()) on_all.micro_batch = 0;
    wanted.prices = cluster.prices;
    ComparedSystem out =
        compare_one(model, cluster.machine,
                    training_of(schedule_with(&ScheduleRecord::several_gpus), on_all), wanted);
    out.name = format_gpus(cluster.gpus, cluster.machine.id);
    return out;
}

}  // namespace

const ComparedSystem* Comparison::ours() const {
    for (const ComparedSystem& system : systems)
        if (system.report.asked.training.schedule->ours) return system.fits() ? &system : nullptr;
    return nullptr;
}

std::optional<double> relative_to_ours(const Comparison& comparison, double tokens_per_s) {
    const ComparedSystem* const ours = comparison.ours();
    if (ours == nullptr) return std::nullopt;
    return tokens_per_s / ours->report.tokens_per_s();
}

std::optional<double> relative_speed(const Comparison& comparison, const ComparedSystem& system) {
    if (!system.fits()) return std::nullopt;
    return relative_to_ours(comparison, system.report.tokens_per_s());
}

std::vector<Schedule> all_schedules() {
    std::vector<Schedule> out;
    for (const ScheduleRecord& record : schedule_table())
        if (!record.several_gpus) out.emplace_back(record);
    return out;
}

std::vector<Schedule> schedules_of(const MachineSpec& machine) {
    std::vector<Schedule> out = all_schedules();
    std::erase_if(out, [&](Schedule schedule) { return !runs_on(schedule, machine); });
    return out;
}

ComparedSchedules compared_schedules(const MachineSpec& machine, const TrainingSpec& asked,
                                     const std::optional<std::vector<Schedule>>& named) {
    ComparedSchedules out;
    std::vector<std::string_view> of_all_weights;
    for (const Schedule schedule : named.value_or(all_schedules())) {
        if (asked.adapter_rank > 0 && !has_option(schedule, "adapter_rank"))
            of_all_weights.emplace_back(schedule->name);
        else if (!named && !runs_on(schedule, machine))
            out.left_out.push_back(fmt::format(
                "{} is left out: no storage is known; give the rates at which it reads and "
                "writes with --set storage.read_gb_per_s=NUMBER and storage.write_gb_per_s",
                schedule->name));
        else
            out.schedules.push_back(schedule);
    }
    if (!of_all_weights.empty())
        out.left_out.push_back(
            fmt::format("not compared, since they train no adapters alone (--adapter-rank {}): {}",
                        asked.adapter_rank, fmt::join(of_all_weights, ", ")));
    return out;
}

std::vector<Schedule> parse_schedules(const std::string& names) {
    std::vector<Schedule> out;
    std::vector<std::string> known;
    for (const Schedule schedule : all_schedules()) known.emplace_back(schedule->name);
    for (const std::string& name : split_list(names)) {
        if (name == schedule_with(&ScheduleRecord::several_gpus)->name)
            throw InputError(fmt::format(
                "--schedules is {}, but {} has machines of its own; give them with --cluster "
                "MACHINE:GPUS",
                names, name));
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw InputError(fmt::format("--schedules is \"{}\", expected {}{}", name,
                                         fmt::join(known, " or "), did_you_mean(name, known)));
        const Schedule schedule(name);
        if (std::find(out.begin(), out.end(), schedule) != out.end())
            throw InputError(
                fmt::format("--schedules is {}, which names {} twice; name it once", names, name));
        out.push_back(schedule);
    }
    return out;
}

TrainingSpec training_of(Schedule schedule, const TrainingSpec& asked) {
    TrainingSpec training;
    for (const Option& option : training_options())
        if (has_option(schedule, option)) option.set(training, option.get(asked));
    training.schedule = schedule;
    check_training_spec(training);
    return training;
}

Comparison compare(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& asked,
                   const ComparedSchedules& compared, const std::vector<ClusterToCompare>& clusters,
                   const PriceList& prices, const std::set<std::string>* chosen_beside,
                   bool as_users_run) {
    check_options(asked, compared.schedules, !clusters.empty());
    Comparison out;
    out.left_out = compared.left_out;
    std::vector<TrainingSpec> trainings;
    for (const Schedule schedule : compared.schedules)
        trainings.push_back(training_of(schedule, asked));
    const Wanted wanted{.band = Wanted::Band::where_it_fits,
                        .suggestions = true,
                        .prices = prices,
                        .chosen_beside = chosen_beside,
                        .as_users_run = as_users_run};
    for (const TrainingSpec& training : trainings)
        out.systems.push_back(compare_one(model, machine, training, wanted));
    for (const ClusterToCompare& cluster : clusters)
        out.systems.push_back(compare_cluster(model, cluster, asked, wanted));
    return out;
}

}  // namespace sluice
