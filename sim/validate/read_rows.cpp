#include <fmt/format.h>

#include <algorithm>

#include "sim/input_error.h"
#include "sim/model/read_model.h"
#include "sim/validate/phases.h"
#include "sim/validate/run_readers.h"

namespace sluice {
namespace {

constexpr std::string_view kMegaTrain = "MegaTrain";

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

MeasuredRun megatrain_row(const JsonObject& row) {
    MeasuredRun run;
    run.file = row.file();
    run.group = kMegaTrain;
    run.model = row_model(row);
    run.training.schedule = Schedule::megatrain;
    run.training.batch = row.integer("batch", 1, 1'000'000);
    run.training.sequence = row.integer("seq", 1, 100'000'000);
    run.name = fmt::format("{}, {} layers, batch {}", row.text("model"), run.model.layer_count(),
                           run.training.batch);
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
        if (system == kMegaTrain)
            out.runs.push_back(megatrain_row(row));
        else if (std::find(unknown.begin(), unknown.end(), system) == unknown.end())
            unknown.push_back(system);
    }
    if (!unknown.empty())
        out.left_out.push_back(fmt::format("{}: {}: no schedule yet: left out", root.file(),
                                           fmt::join(unknown, ", ")));
}

}  // namespace sluice
