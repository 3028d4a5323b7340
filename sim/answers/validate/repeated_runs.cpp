#include "sim/answers/validate/repeated_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sluice {
namespace {

bool same_model(const ModelSpec& a, const ModelSpec& b) {
    return a.name == b.name && a.hidden == b.hidden && a.vocabulary == b.vocabulary &&
           a.layer_count() == b.layer_count() && a.tied_embeddings == b.tied_embeddings &&
           total_parameters(a) == total_parameters(b);
}

/// But for distinct_tokens: what the measured step's text held, one or two more or less in each
/// process.
bool same_training(TrainingSpec a, const TrainingSpec& b) {
    a.distinct_tokens = b.distinct_tokens;
    const std::vector<Option>& options = training_options();
    return std::all_of(options.begin(), options.end(),
                       [&](const Option& option) { return option.get(a) == option.get(b); });
}

/// Reports of two versions of the planner have other operations, which cannot be averaged.
bool same_operations(const MeasuredRun& a, const MeasuredRun& b) {
    return std::equal(
               a.operations.begin(), a.operations.end(), b.operations.begin(), b.operations.end(),
               [](const MeasuredOperation& x, const MeasuredOperation& y) {
                   return x.label == y.label && x.lane == y.lane && x.micro_batch == y.micro_batch;
               }) &&
           std::equal(
               a.phases.begin(), a.phases.end(), b.phases.begin(), b.phases.end(),
               [](const MeasuredPhase& x, const MeasuredPhase& y) { return x.name == y.name; });
}

bool same_configuration(const MeasuredRun& a, const MeasuredRun& b) {
    return a.name == b.name && a.group == b.group && !a.machine_name.empty() &&
           a.machine_name == b.machine_name && a.precision == b.precision &&
           a.unified_memory == b.unified_memory && a.host_between_steps == b.host_between_steps &&
           same_model(a.model, b.model) && same_training(a.training, b.training) &&
           same_operations(a, b);
}

/// Moves the mean of `count` values to that of these and one more.
void add_to_mean(double& mean, double value, double count) { mean += (value - mean) / (count + 1); }

void add_process(MeasuredRun& run, const MeasuredRun& other) {
    if (run.processes.empty()) run.processes.push_back({run.file, run.step});
    const auto before = static_cast<double>(run.processes.size());
    run.processes.push_back({other.file, other.step});
    add_to_mean(run.step, other.step, before);
    // 0: not known, of all processes.
    run.step_low = std::min(run.step_low, other.step_low);
    run.step_high = run.step_low > 0 ? std::max(run.step_high, other.step_high) : 0;
    run.steps = run.steps > 0 && other.steps > 0 ? run.steps + other.steps : 0;
    run.device = std::max(run.device, other.device);
    run.host = std::max(run.host, other.host);
    for (std::size_t i = 0; i < run.operations.size(); ++i) {
        OperationInterval& interval = run.operations[i].interval;
        add_to_mean(interval.start, other.operations[i].interval.start, before);
        add_to_mean(interval.end, other.operations[i].interval.end, before);
    }
    for (std::size_t i = 0; i < run.phases.size(); ++i)
        add_to_mean(run.phases[i].seconds, other.phases[i].seconds, before);
}

const std::string& place(const MeasuredRun& run) { return run.row.empty() ? run.file : run.row; }

/// Whether no two of them were measured on one machine.
bool machines_tell_apart(const std::vector<MeasuredRun*>& runs) {
    std::set<std::string> machines;
    for (const MeasuredRun* run : runs)
        if (run->machine_name.empty() || !machines.insert(run->machine_name).second) return false;
    return true;
}

}  // namespace

std::vector<MeasuredRun> join_repeated_runs(std::vector<MeasuredRun> runs) {
    std::vector<MeasuredRun> joined;
    for (MeasuredRun& run : runs) {
        const auto same = std::find_if(joined.begin(), joined.end(), [&](const MeasuredRun& one) {
            return same_configuration(one, run);
        });
        if (same == joined.end())
            joined.push_back(std::move(run));
        else
            add_process(*same, run);
    }
    return joined;
}

void tell_apart(std::vector<MeasuredRun>& runs) {
    std::map<std::pair<std::string, std::string>, std::vector<MeasuredRun*>> by_name;
    for (MeasuredRun& run : runs) by_name[{run.group, run.name}].push_back(&run);
    for (const auto& [name, alike] : by_name) {
        if (alike.size() == 1) continue;
        const bool by_machine = machines_tell_apart(alike);
        for (MeasuredRun* run : alike)
            run->name += fmt::format(" ({})", by_machine ? run->machine_name : place(*run));
    }
}

}  // namespace sluice
