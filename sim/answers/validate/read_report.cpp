#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sim/answers/validate/measured_run.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

using nlohmann::json;

/// The name as it stands in the report, else what --model names.
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

std::vector<MeasuredOperation> read_operations(const JsonObject& root, const json& text) {
    const auto entry = root.object_or_none("operations");
    if (!entry) return {};
    const std::vector<std::string> columns = {"operation", "lane", "micro_batch", "start_s",
                                              "end_s"};
    if (entry->texts("columns") != columns)
        throw InputError(fmt::format("{} is {}, expected {}; measure again with this version",
                                     entry->where("columns"), entry->shown_value("columns"),
                                     fmt::join(columns, ", ")));
    const json& rows = text.at("operations").value("rows", json());
    if (!rows.is_array())
        throw InputError(fmt::format("{} is no list of operations; measure again with this version",
                                     entry->where("rows")));
    if (rows.empty())
        throw InputError(fmt::format(
            "{} is empty, expected a row an operation of the plan; measure again with this version",
            entry->where("rows")));
    std::vector<MeasuredOperation> operations;
    for (const json& row : rows)
        operations.push_back(read_operation(row, root.where("operations"), operations.size()));
    return operations;
}

/// Reports of before it was written are of GPUs.
Precision read_precision(const JsonObject& root) {
    const std::string name = root.text_or("precision", precision_name(Precision::bf16));
    for (const Precision precision : {Precision::bf16, Precision::fp32})
        if (name == precision_name(precision)) return precision;
    throw InputError(
        fmt::format("{} is \"{}\", expected bf16 or fp32", root.where("precision"), name));
}

void refuse_prediction(const JsonObject& root) {
    if (!root.boolean_or("measured", false))
        throw InputError(
            fmt::format("{} is not true, so this is a prediction; give the report of a run, from "
                        "sluice-train --report",
                        root.where("measured")));
}

}  // namespace

MeasuredRun read_run_report(const JsonObject& root, std::string_view text,
                            const std::optional<std::string>& model) {
    refuse_prediction(root);
    const json whole = json::parse(text);
    const std::filesystem::path path = std::filesystem::absolute(root.file());
    MeasuredRun run;
    run.file = root.file();
    run.name = path.stem().string();
    run.group = path.parent_path().filename().string();
    if (const auto machine = root.object_or_none("machine"))
        run.machine_name = machine->text_or("name", "");
    run.step = root.number("step_s", kShortestStep, kMostSeconds);
    run.steps = static_cast<int>(root.integer_or("steps_measured", 0, 0, kMostSteps));
    run.precision = read_precision(root);
    run.model = read_reported_model(root, model);
    root.object("training");  // is there
    run.training = parse_training_spec(whole.at("training").dump(), root.file() + ": training");
    if (root.has("step_5_percent_s") && root.has("step_95_percent_s")) {
        run.step_low = root.number("step_5_percent_s", kShortestStep, kMostSeconds);
        run.step_high = root.number("step_95_percent_s", run.step_low, kMostSeconds);
    }
    run.device = root.integer_or("measured_device_bytes", 0, 0, kMostBytes);
    run.host = root.integer_or("measured_host_bytes", 0, 0, kMostBytes);
    run.unified_memory = root.boolean_or("unified_memory", false);
    run.operations = read_operations(root, whole);
    return run;
}

}  // namespace sluice
