// Reads the report of a measured step, and tables of other systems' rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/answers/validate/compare_run.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

using nlohmann::json;

/// The report's model name, else --model.
ModelSpec read_shape(const JsonObject& entry, const std::optional<std::string>& model) {
    const std::string name = entry.text("name");
    try {
        return read_model(name);
    } catch (const InputError&) {
        if (model) return read_model(*model);
        throw InputError(fmt::format(
            "{} is \"{}\", which is not a known model; name its config.json with --model",
            entry.where("name"), name));
    }
}

ModelSpec read_reported_model(const JsonObject& root, const std::optional<std::string>& named) {
    const JsonObject entry = root.object("model");
    ModelSpec model = read_shape(entry, named);
    const std::int64_t layers = entry.integer("layers", 1, kMostLayers);
    if (layers > model.layer_count())
        throw InputError(fmt::format("{} is {}, but {} has {}; name another model with --model",
                                     entry.where("layers"), layers, model.name,
                                     model.layer_count()));
    truncate_layers(model, layers);
    model.tied_embeddings = entry.boolean_or("tied_embeddings", model.tied_embeddings);
    const std::int64_t parameters = total_parameters(model);
    if (entry.integer_or("parameters", parameters, 1, std::int64_t{1} << 53) != parameters)
        throw InputError(
            fmt::format("{} is {}, but {} with {} layers has {}; name another model with --model",
                        entry.where("parameters"), entry.shown_value("parameters"), model.name,
                        layers, parameters));
    return model;
}

[[noreturn]] void wrong_row(const std::string& where, std::size_t row) {
    throw InputError(
        fmt::format("{}.rows[{}] is not an operation; expected its label, its lane, a "
                    "micro-batch and two times in seconds, the end not before the start",
                    where, row));
}

MeasuredOperation read_operation(const json& row, const std::string& where, std::size_t index) {
    const auto time = [](const json& value) {
        return value.is_number() && std::abs(value.get<double>()) <= kMostSeconds;
    };
    const bool whole = row.is_array() && row.size() == 5 && row[0].is_string() &&
                       row[1].is_string() && row[2].is_number_integer() && time(row[3]) &&
                       time(row[4]) && row[3].get<double>() <= row[4].get<double>();
    if (!whole) wrong_row(where, index);
    return {row[0], row[1], row[2], {row[3], row[4]}};
}

std::vector<MeasuredOperation> read_operations(const JsonObject& root) {
    const auto entry = root.object_or_none("operations");
    if (!entry) return {};
    const std::vector<std::string> columns = {"operation", "lane", "micro_batch", "start_s",
                                              "end_s"};
    if (entry->texts("columns") != columns)
        throw InputError(fmt::format("{} is {}, expected {}; measure again with this version",
                                     entry->where("columns"), entry->shown_value("columns"),
                                     fmt::join(columns, ", ")));
    const json& rows = entry->list("rows");
    if (rows.empty())
        throw InputError(
            fmt::format("{} is empty, expected one row per operation of the plan; measure again "
                        "with this version",
                        entry->where("rows")));
    std::vector<MeasuredOperation> operations;
    for (const json& row : rows)
        operations.push_back(read_operation(row, root.where("operations"), operations.size()));
    return operations;
}

/// Older reports call them `precision`; those without either field are of GPUs.
Precision read_activations(const JsonObject& root) {
    const char* const key = root.has("activations") ? "activations" : "precision";
    const std::string name = root.text_or(key, precision_name(Precision::bf16));
    for (const Precision precision : {Precision::bf16, Precision::fp32})
        if (name == precision_name(precision)) return precision;
    throw InputError(fmt::format("{} is \"{}\", expected bf16 or fp32", root.where(key), name));
}

/// Absent in reports of steps that waited for the norm.
bool read_updates_ahead(const JsonObject& root, const TrainingSpec& training) {
    const bool ahead = root.boolean_or("updates_ahead", false);
    if (!ahead || (training.schedule->ours && training.clipping == Clipping::automatic))
        return ahead;
    throw InputError(
        fmt::format("{} is true, but training has schedule {} and clipping {}, with which all "
                    "updates wait for the norm; expected false, or schedule streamed and clipping "
                    "auto",
                    root.where("updates_ahead"), training.schedule->name,
                    option_text(training, training_option("clipping"))));
}

void refuse_prediction(const JsonObject& root) {
    if (!root.boolean_or("measured", false))
        throw InputError(
            fmt::format("{} is not true, so this is a prediction; give the report of a run, from "
                        "sluice-train --report",
                        root.where("measured")));
}

/// The schedule of a system as named in rows, with the measured settings.
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
                       format_thousands(run.training.sequence));
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

Bytes gigabytes(const JsonObject& row, std::string_view key) {
    constexpr double kMostGigabytes = 1e6;
    return row.has(key) ? static_cast<Bytes>(row.number(key, 0, kMostGigabytes) * kGiga) : 0;
}

MeasuredRun read_run_report(const JsonObject& root, const std::optional<std::string>& model) {
    refuse_prediction(root);
    const std::filesystem::path path = std::filesystem::absolute(root.file());
    MeasuredRun run;
    run.file = root.file();
    run.name = path.stem().string();
    run.group = path.parent_path().filename().string();
    if (const auto machine = root.object_or_none("machine"))
        run.machine_name = machine->text_or("name", "");
    run.step = root.number("step_s", kShortestStep, kMostSeconds);
    run.steps = static_cast<int>(root.integer_or("steps_measured", 0, 0, kMostSteps));
    run.activations = read_activations(root);
    run.model = read_reported_model(root, model);
    run.training.clipping = Clipping::speculative;  // in reports that do not say it
    set_options(run.training, root.object("training"));
    run.updates_ahead = read_updates_ahead(root, run.training);
    if (root.has("step_5_percent_s") && root.has("step_95_percent_s")) {
        run.step_low = root.number("step_5_percent_s", kShortestStep, kMostSeconds);
        run.step_high = root.number("step_95_percent_s", run.step_low, kMostSeconds);
    }
    run.device = root.integer_or("measured_device_bytes", 0, 0, kMostBytes);
    run.host = root.integer_or("measured_host_bytes", 0, 0, kMostBytes);
    run.unified_memory = root.boolean_or("unified_memory", false);
    run.operations = read_operations(root);
    return run;
}

void read_system_rows(const JsonObject& root, MeasuredRuns& out) {
    const std::vector<JsonObject> rows = root.objects("rows");
    if (rows.empty())
        throw InputError(
            fmt::format("{} is empty, expected one row per measured step", root.where("rows")));
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
