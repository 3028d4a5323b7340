#include "sim/answers/validate/measured_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExpected =
    "expected a report of sluice-train --report (it has step_s and training) or a table of other "
    "systems' rows";

/// Reads a file of a known kind; returns whether it was one. `done` are the files read before.
bool read_file(const std::string& path, const std::optional<std::string>& model,
               std::set<fs::path>& done, MeasuredRuns& out) {
    std::error_code error;
    const fs::path file = fs::weakly_canonical(path, error);
    if (!error && !done.insert(file).second) {
        out.left_out.push_back(fmt::format("{}: given twice: counted once", path));
        return true;
    }
    const JsonObject root = JsonObject::parse(read_text_file(path), path);
    if (root.has("rows")) {
        read_system_rows(root, out);
    } else if (root.has("training") || root.has("measured")) {
        out.runs.push_back(read_run_report(root, model));
    } else {
        return false;
    }
    return true;
}

/// All *.json below the folder, sorted.
std::vector<std::string> json_files(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code ignored;
        if (at->path().extension() == ".json" && at->is_regular_file(ignored))
            files.push_back(at->path().string());
    }
    if (error)
        throw InputError(
            fmt::format("{}: the folder cannot be read; check its permissions", folder));
    std::sort(files.begin(), files.end());
    return files;
}

/// Traces often are in the same folder as reports, so other files in a folder are no mistake.
void read_folder(const std::string& folder, const std::optional<std::string>& model,
                 std::set<fs::path>& done, MeasuredRuns& out) {
    bool any = false;
    for (const std::string& file : json_files(folder)) {
        if (read_file(file, model, done, out))
            any = true;
        else
            out.left_out.push_back(fmt::format("{}: no report: left out", file));
    }
    if (!any)
        throw InputError(
            fmt::format("{}: the folder holds no measured run; {}", folder, kExpected));
}

bool same_model(const ModelSpec& a, const ModelSpec& b) {
    return a.name == b.name && a.hidden == b.hidden && a.vocabulary == b.vocabulary &&
           a.layer_count() == b.layer_count() && a.tied_embeddings == b.tied_embeddings &&
           total_parameters(a) == total_parameters(b);
}

/// Equal except for distinct_tokens, which depends on the measured step's text and differs by one
/// or two between processes.
bool same_training(TrainingSpec a, const TrainingSpec& b) {
    a.distinct_tokens = b.distinct_tokens;
    const std::vector<Option>& options = training_options();
    return std::all_of(options.begin(), options.end(),
                       [&](const Option& option) { return option.get(a) == option.get(b); });
}

/// Reports of two versions of the planner have different operations, which cannot be averaged.
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
           a.machine_name == b.machine_name && a.activations == b.activations &&
           a.updates_ahead == b.updates_ahead && a.unified_memory == b.unified_memory &&
           a.host_between_steps == b.host_between_steps && same_model(a.model, b.model) &&
           same_training(a.training, b.training) && same_operations(a, b);
}

/// Updates the mean of `count` values with one more value.
void add_to_mean(double& mean, double value, double count) { mean += (value - mean) / (count + 1); }

void add_process(MeasuredRun& run, const MeasuredRun& other) {
    if (run.processes.empty()) run.processes.push_back({run.file, run.step});
    const auto before = static_cast<double>(run.processes.size());
    run.processes.push_back({other.file, other.step});
    add_to_mean(run.step, other.step, before);
    // 0 (not known) if one process does not know it.
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

/// Whether all were measured on different machines.
bool machines_tell_apart(const std::vector<MeasuredRun*>& runs) {
    std::set<std::string> machines;
    for (const MeasuredRun* run : runs)
        if (run->machine_name.empty() || !machines.insert(run->machine_name).second) return false;
    return true;
}

}  // namespace

MeasuredRuns read_measured_runs(const std::vector<std::string>& paths,
                                const std::optional<std::string>& model) {
    MeasuredRuns out;
    std::set<fs::path> done;
    for (const std::string& path : paths) {
        std::error_code error;
        if (fs::is_directory(path, error))
            read_folder(path, model, done, out);
        else if (!read_file(path, model, done, out))
            throw InputError(fmt::format("{}: holds no measured run; {}", path, kExpected));
    }
    if (out.runs.empty())
        throw InputError(fmt::format("{}: no run is left to compare ({})", fmt::join(paths, ", "),
                                     fmt::join(out.left_out, "; ")));
    return out;
}

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
