#include "sim/answers/validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <string_view>

#include "sim/base/format.h"

namespace sluice {
namespace {

ErrorSummary& bound_of(GroupSummary& summary, const std::string& bound) {
    for (BoundSummary& known : summary.bounds)
        if (known.bound == bound) return known.throughput;
    summary.bounds.push_back({bound, {}});
    return summary.bounds.back().throughput;
}

/// Summary of the runs of `group`, or of all runs if it is empty.
GroupSummary summary_of(const std::vector<RunComparison>& runs, const std::string& group) {
    GroupSummary summary;
    summary.group = group;
    std::vector<double> measured, predicted;
    for (const RunComparison& c : runs) {
        if (!group.empty() && c.run.group != group) continue;
        ++summary.runs;
        add_error(summary.throughput, c.throughput_error(), c.run.name);
        add_error(bound_of(summary, bottleneck_name(c.predicted.step.bottleneck())),
                  c.throughput_error(), c.run.name);
        add_error(summary.device, c.device_error(), c.run.name);
        add_error(summary.host, c.host_error(), c.run.name);
        measured.push_back(c.run.tokens_per_s());
        predicted.push_back(c.predicted.tokens_per_s());
        summary.processes += c.run.process_count();
        summary.with_band += c.steps_in_band() ? c.run.process_count() : 0;
        summary.in_band += c.steps_in_band().value_or(0);
    }
    summary.tau_b = kendall_tau_b(predicted, measured);
    return summary;
}

std::vector<std::string> runs_of_other_machines(const std::vector<MeasuredRun>& runs,
                                                const MachineSpec& machine) {
    std::vector<std::string> sentences;
    const auto here = machine_parts(machine.name);
    for (const MeasuredRun& run : runs) {
        const auto there = machine_parts(run.machine_name);
        if (here && there && !same_kind(*here, *there))
            sentences.push_back(fmt::format(
                "{}: measured on {}, but {} is {}; name the profile of the first with --machine",
                run.file, run.machine_name, machine.id, machine.name));
    }
    return sentences;
}

bool exceeds(std::optional<double> error, double limit) {
    return error && std::abs(*error) > limit;
}

void add_runs(std::vector<std::string>& sentences, const char* what, double limit,
              const std::vector<std::string>& runs) {
    if (!runs.empty())
        sentences.push_back(
            fmt::format("{} off by more than {:g}%: {}", what, 100 * limit, fmt::join(runs, ", ")));
}

std::vector<std::string> beyond_throughput(const Validation& validation, double limit) {
    std::vector<std::string> runs;
    for (const RunComparison& c : validation.runs)
        if (exceeds(c.throughput_error(), limit))
            runs.push_back(fmt::format("{} ({})", c.run.name, format_error(c.throughput_error())));
    return runs;
}

std::vector<std::string> beyond_memory(const Validation& validation, double limit) {
    std::vector<std::string> runs;
    for (const RunComparison& c : validation.runs) {
        for (const auto& [name, error] :
             {std::pair{"device", c.device_error()}, std::pair{"host", c.host_error()}})
            if (exceeds(error, limit))
                runs.push_back(fmt::format("{} ({} {})", c.run.name, name, format_error(error)));
    }
    return runs;
}

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// The data decides the number of different tokens in a batch, so it is no option here.
bool is_choice(const Option& option) { return std::string_view(option.field) != "distinct_tokens"; }

/// All options except one, as text.
std::string settings_without(const MeasuredRun& run, const Option& left_out) {
    std::string key =
        fmt::format("{} {} {} {} {}", run.model.name, run.model.layer_count(),
                    run.model.tied_embeddings, precision_name(run.activations), run.updates_ahead);
    for (const Option& option : training_options())
        if (option.field != left_out.field && is_choice(option))
            key += " " + option_text(run.training, option);
    return key;
}

const RunComparison* fastest(const std::vector<const RunComparison*>& runs,
                             double (*tokens_per_s)(const RunComparison&)) {
    return *std::max_element(runs.begin(), runs.end(),
                             [&](const RunComparison* a, const RunComparison* b) {
                                 return tokens_per_s(*a) < tokens_per_s(*b);
                             });
}

}  // namespace

void add_error(ErrorSummary& summary, std::optional<double> error, const std::string& name) {
    if (!error) return;
    ++summary.count;
    summary.mean_absolute += (std::abs(*error) - summary.mean_absolute) / summary.count;
    if (!summary.worst_name.empty() && std::abs(*error) <= std::abs(summary.worst)) return;
    summary.worst = *error;
    summary.worst_name = name;
}

std::optional<ProcessSpread> process_spread(const std::vector<RunComparison>& runs) {
    ProcessSpread spread;
    for (const RunComparison& c : runs) {
        if (c.run.processes.empty()) continue;
        ++spread.configurations;
        for (const MeasuredProcess& process : c.run.processes) {
            const double distance = std::abs(process.step / c.run.step - 1);
            ++spread.processes;
            spread.mean += (distance - spread.mean) / spread.processes;
            if (!spread.worst_name.empty() && distance <= spread.worst) continue;
            spread.worst = distance;
            spread.worst_name = c.run.name;
        }
    }
    if (spread.configurations == 0) return std::nullopt;
    return spread;
}

std::vector<std::string> group_names(const std::vector<RunComparison>& runs) {
    std::vector<std::string> groups;
    for (const RunComparison& c : runs)
        if (std::find(groups.begin(), groups.end(), c.run.group) == groups.end())
            groups.push_back(c.run.group);
    return groups;
}

std::vector<GroupSummary> summarize(const std::vector<RunComparison>& runs) {
    const std::vector<std::string> groups = group_names(runs);
    std::vector<GroupSummary> summaries;
    if (groups.size() > 1)
        for (const std::string& group : groups) summaries.push_back(summary_of(runs, group));
    summaries.push_back(summary_of(runs, ""));
    return summaries;
}

Validation validate(MeasuredRuns measured, const MachineSpec& machine) {
    Validation out;
    out.machine_id = machine.id;
    out.machine_changes = machine.changes;
    out.left_out = std::move(measured.left_out);
    out.other_machines = runs_of_other_machines(measured.runs, machine);
    std::vector<MeasuredRun> runs = join_repeated_runs(std::move(measured.runs));
    tell_apart(runs);
    for (MeasuredRun& run : runs) out.runs.push_back(compare_run(std::move(run), machine));
    out.summaries = summarize(out.runs);
    return out;
}

std::vector<std::string> beyond_limits(const Validation& validation, const Limits& limits) {
    std::vector<std::string> sentences;
    if (limits.throughput)
        add_runs(sentences, "tokens/s are", *limits.throughput,
                 beyond_throughput(validation, *limits.throughput));
    const double mean = validation.summaries.back().throughput.mean_absolute;
    if (limits.mean_throughput && mean > *limits.mean_throughput)
        sentences.push_back(fmt::format("the mean error of tokens/s is more than {:g}%: {:.1f}%",
                                        100 * *limits.mean_throughput, 100 * mean));
    if (limits.memory)
        add_runs(sentences, "memory is", *limits.memory, beyond_memory(validation, *limits.memory));
    return sentences;
}

std::optional<MachineParts> machine_parts(const std::string& name) {
    static const std::regex kForm(
        R"((.+), (\d+(?:\.\d+)?) CPUs(?: of (.+))?, (\d+(?:\.\d+)?(?:e\+\d+)?) ([MGT])B)");
    std::smatch parts;
    if (!std::regex_match(name, parts, kForm)) return std::nullopt;
    const char unit = *parts[5].first;
    const double bytes = unit == 'T' ? 1e12 : unit == 'G' ? 1e9 : 1e6;
    return MachineParts{parts[1], std::stod(parts[2]), parts[3], std::stod(parts[4]) * bytes};
}

bool same_kind(const MachineParts& a, const MachineParts& b) {
    constexpr double kOfMemory = 0.01;
    return a.gpu == b.gpu && a.cpus == b.cpus && a.cpu == b.cpu &&
           std::abs(a.host_memory - b.host_memory) <=
               kOfMemory * std::max(a.host_memory, b.host_memory);
}

std::optional<double> kendall_tau_b(const std::vector<double>& a, const std::vector<double>& b) {
    double balance = 0, untied_a = 0, untied_b = 0;  // pairs of runs
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const int in_a = sign(a[i] - a[j]), in_b = sign(b[i] - b[j]);
            balance += in_a * in_b;
            untied_a += std::abs(in_a);
            untied_b += std::abs(in_b);
        }
    }
    if (untied_a == 0 || untied_b == 0) return std::nullopt;
    return balance / std::sqrt(untied_a * untied_b);
}

std::vector<OptionSet> option_sets(const std::vector<RunComparison>& runs) {
    std::vector<OptionSet> sets;
    for (const Option& option : training_options()) {
        if (!is_choice(option)) continue;
        std::map<std::string, std::vector<const RunComparison*>> alike;
        for (const RunComparison& comparison : runs)
            alike[settings_without(comparison.run, option)].push_back(&comparison);
        for (auto& [settings, members] : alike) {
            const auto value = [&](const RunComparison* c) { return option.get(c->run.training); };
            std::stable_sort(members.begin(), members.end(),
                             [&](const auto* x, const auto* y) { return value(x) < value(y); });
            // Two runs with the same settings differ in no option.
            if (value(members.front()) == value(members.back())) continue;
            OptionSet set{option.field, members, nullptr, nullptr};
            set.measured_best =
                fastest(members, [](const RunComparison& c) { return c.run.tokens_per_s(); });
            set.predicted_best =
                fastest(members, [](const RunComparison& c) { return c.predicted.tokens_per_s(); });
            sets.push_back(std::move(set));
        }
    }
    return sets;
}

}  // namespace sluice
