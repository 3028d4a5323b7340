#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/answers/validate/measured_run.h"
#include "sim/answers/validate/phases.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

/// The schedule of a system as rows name it, at the settings that were measured.
const ScheduleRecord* schedule_of(const std::string& system) {
    const auto& table = schedule_table();
    const auto found = std::find_if(table.begin(), table.end(), [&](const ScheduleRecord& one) {
        return !system.empty() && one.measured_system == system;
    });
    return found == table.end() ? nullptr : &*found;
}

ModelSpec row_model(const JsonObject& row) {
    ModelSpec model = read_model(row.text("model"));
    truncate_layers(model, row.integer("layers", 1, model.layer_count()));
    if (row.boolean_or("untied_embeddings", false)) model.tied_embeddings = false;
    return model;
}

Bytes gigabytes(const JsonObject& row, std::string_view key) {
    constexpr double kMostGigabytes = 1e6;
    return row.has(key) ? static_cast<Bytes>(row.number(key, 0, kMostGigabytes) * kGiga) : 0;
}

std::vector<MeasuredPhase> row_phases(const JsonObject& row, const TrainingSpec& training) {
    std::vector<MeasuredPhase> phases;
    const auto entry = row.object_or_none("phases_s");
    if (!entry) return phases;
    const std::vector<std::string> known = phase_names(training.schedule);
    entry->allow_only(known);
    for (const std::string& name : known)
        if (entry->has(name)) phases.push_back({name, entry->number(name, 0, kMostSeconds)});
    return phases;
}

/// "zero3-offload Qwen2.5-7B, 8 of 28 layers, 32 x 1,024"; micro-batches come first: "2 x 16 x
/// ...".
std::string run_name(const JsonObject& row, const MeasuredRun& run) {
    const int all = read_model(row.text("model")).layer_count(), layers = run.model.layer_count();
    const std::int64_t passes = run.training.micro_batches();
    return fmt::format("{} {}{}, {}{} x {}", run.training.schedule->name, row.text("model"),
                       layers == all ? "" : fmt::format(", {} of {} layers", layers, all),
                       passes == 1 ? "" : fmt::format("{} x ", passes),
                       run.training.micro_batch_sequences(),
                       format_thousands(static_cast<double>(run.training.sequence)));
}

MeasuredRun system_row(const JsonObject& row, Schedule schedule) {
    MeasuredRun run;
    run.file = row.file();
    run.group = row.text("system");
    run.model = row_model(row);
    if (const auto options = row.object_or_none("training")) set_options(run.training, *options);
    run.training.schedule = schedule;
    run.training.batch = row.integer("batch", 1, 1'000'000);
    run.training.sequence = row.integer("seq", 1, 100'000'000);
    run.name = run_name(row, run);
    run.machine_name = row.text_or("machine", "");
    run.step = row.number("step_s", kShortestStep, kMostSeconds);
    run.device = gigabytes(row, "device_peak_gb");
    run.host = gigabytes(row, "host_rss_gb");
    run.host_between_steps = true;
    run.phases = row_phases(row, run.training);
    return run;
}

}  // namespace

void read_system_rows(const JsonObject& root, MeasuredRuns& out) {
    const std::vector<JsonObject> rows = root.objects("rows");
    if (rows.empty())
        throw InputError(fmt::format("{} is empty, expected a row a step that was measured",
                                     root.where("rows")));
    std::vector<std::string> unknown;
    for (const JsonObject& row : rows) {
        const std::string system = row.text("system");
        if (const ScheduleRecord* const known = schedule_of(system)) {
            out.runs.push_back(system_row(row, Schedule(*known)));
            out.runs.back().row = fmt::format("rows[{}]", &row - rows.data());
        } else if (std::find(unknown.begin(), unknown.end(), system) == unknown.end()) {
            unknown.push_back(system);
        }
    }
    if (!unknown.empty())
        out.left_out.push_back(fmt::format("{}: {}: no schedule yet: left out", root.file(),
                                           fmt::join(unknown, ", ")));
}

}  // namespace sluice
