#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/machines/machine_diff.h"
#include "sim/base/input_error.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/table.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::function<Cell(const MachineProfile&)> number(const char* path) {
    return [path](const MachineProfile& profile) { return Cell(profile.number(path)); };
}

/// The confidence of predictions with a profile, or why none are possible.
std::string trust(const MachineProfile& profile) {
    try {
        return confidence_name(resolve_machine(profile).confidence);
    } catch (const InputError&) {
        return profile.number("host.memory_capacity_gb") ? "incomplete: see show"
                                                         : "give --host-memory";
    }
}

/// Empty if the two have no point in common.
Cell if_common(const PointsDiff& diff, Cell cell) {
    return std::move(cell).hidden_if(diff.common == 0);
}

std::vector<Table> machine_diff_tables(const MachineDiff& diff) {
    const auto points = [](auto& one) {
        return one.common > 0 ? Cell(one.common) : Cell(0).shown_as("none");
    };
    return {table_of<TextDiff>(diff.texts, {{"path", "texts", &TextDiff::path},
                                            {"a", "A", &TextDiff::a},
                                            {"b", "B", &TextDiff::b}}),
            table_of<NumberDiff>(
                diff.numbers, {{"path", "numbers", &NumberDiff::path},
                               {"a", "A", Unit::number, &NumberDiff::a},
                               {"b", "B", Unit::number, &NumberDiff::b},
                               {"relative", "B to A", Unit::change, &NumberDiff::relative},
                               {"ranges_overlap", "5% to 95% of A and of B",
                                [](auto& one) -> Cell {
                                    if (!one.ranges_overlap) return {};
                                    return Cell(*one.ranges_overlap)
                                        .shown_as(
                                            fmt::format("{} and {}: {}", one.range_a, one.range_b,
                                                        *one.ranges_overlap ? "overlap" : "apart"));
                                }}}),
            table_of<PointsDiff>(
                diff.curves, {{"path", "curves", &PointsDiff::path},
                              {"common_points", "common points", Unit::whole, points},
                              {"largest_relative", "largest", Unit::change,
                               [](auto& one) { return if_common(one, one.largest); }},
                              {"at", "at", [](auto& one) { return if_common(one, one.where); }}}),
            table_of<PointsDiff>(
                diff.kernels, {{"path", "kernel times", &PointsDiff::path},
                               {"common_shapes", "common shapes", Unit::whole, points},
                               {"mean_relative", "mean", Unit::change,
                                [](auto& one) { return if_common(one, one.mean); }},
                               {"largest_relative", "largest", Unit::change,
                                [](auto& one) { return if_common(one, one.largest); }},
                               {"at", "at", [](auto& one) { return if_common(one, one.where); }}})};
}

std::string only_in(const char* name, const std::vector<std::string>& paths) {
    return paths.empty() ? "" : fmt::format("only in {}: {}\n", name, fmt::join(paths, ", "));
}

Table models_table() {
    std::vector<std::pair<std::string, ModelSpec>> models;
    for (const std::string& name : library_models()) models.emplace_back(name, read_model(name));
    for (const ScaledTarget& target : scaled_targets())
        models.emplace_back(target.name, read_model(target.name));
    using Named = std::pair<std::string, ModelSpec>;
    return table_of<Named>(
        models,
        {{"name", "name", &Named::first},
         {"parameters", "parameters", Unit::count,
          [](auto& one) { return total_parameters(one.second); }},
         {"active_parameters", "active", Unit::count,
          [](auto& one) { return active_parameters(one.second); }},
         {"layers", "layers", Unit::whole, [](auto& one) { return one.second.layer_count(); }},
         {"hidden", "hidden", Unit::whole, [](auto& one) { return one.second.hidden; }},
         {"vocabulary", "vocabulary", Unit::whole, [](auto& one) { return one.second.vocabulary; }},
         {"type", "type", [](auto& one) { return one.second.family; }}});
}

Table machines_table() {
    std::vector<MachineProfile> machines;
    for (const std::string& id : library_machines()) machines.push_back(read_machine_profile(id));
    return table_of<MachineProfile>(
        machines, {{"name", "name", &MachineProfile::id},
                   {"gpu", "GPU", [](auto& one) { return one.text("gpu.name"); }},
                   {"hbm_gb", "HBM GB", Unit::number, number("gpu.memory_capacity_gb")},
                   {"bf16_tflops", "TFLOPS", Unit::number, number("gpu.bf16_dense_tflops")},
                   {"host_to_device_gb_per_s", "to GPU", Unit::number,
                    number("link.host_to_device_gb_per_s")},
                   {"device_to_host_gb_per_s", "from GPU", Unit::number,
                    number("link.device_to_host_gb_per_s")},
                   {"host_memory_gb", "host GB", Unit::number, number("host.memory_capacity_gb")},
                   {"predictions", "predictions", trust}});
}

}  // namespace

std::string models_text() { return to_text(models_table()); }
std::string models_json() { return readable_json(to_json(models_table())); }
std::string machines_json() { return readable_json(to_json(machines_table())); }

std::string machines_text() {
    return to_text(machines_table()) +
           "\nTFLOPS: bf16 dense, from the datasheet. To and from GPU: GB/s of copies in one "
           "direction. -: not known.\nTo predict with another host memory, append its size: "
           "h200-sxm-pcie5-1.5tb\n";
}

std::string model_text(const ModelSpec& model) {
    const auto parameters = [](std::int64_t count) { return format_thousands(count); };
    std::string out = fmt::format(
        "{}: {} parameters, {} active per token; {}, hidden {}, vocabulary {}, {} "
        "embeddings\nsource: {}\n",
        model.name, parameters(total_parameters(model)), parameters(active_parameters(model)),
        format_number_of(model.layer_count(), "layer"), model.hidden, model.vocabulary,
        model.tied_embeddings ? "tied" : "untied", model.source);
    if (!model.note.empty()) out += fmt::format("note: {}\n", model.note);
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
        const LayerSpec& layer = model.kinds[kind];
        out += fmt::format(
            "\n{} with {} parameters each{}\n",
            format_number_of(
                std::count(model.layers.begin(), model.layers.end(), static_cast<int>(kind)),
                "layer"),
            parameters(layer_parameters(model, layer)),
            layer.attention.window > 0 ? fmt::format(", sliding window {}", layer.attention.window)
                                       : "");
        out += to_text(
            table_of<ParameterTensor>(layer_tensors(model, layer),
                                      {{"", "tensor", &ParameterTensor::name},
                                       {"", "rows", Unit::whole, &ParameterTensor::rows},
                                       {"", "columns", Unit::whole, &ParameterTensor::columns},
                                       {"", "number", Unit::whole, &ParameterTensor::count}}),
            "  ");
    }
    return out;
}

std::string model_json(const ModelSpec& model) {
    return readable_json({{"name", model.name},
                          {"type", model.family},
                          {"parameters", total_parameters(model)},
                          {"active_parameters", active_parameters(model)},
                          {"embedding_parameters", embedding_parameters(model)},
                          {"head_parameters", head_parameters(model)},
                          {"largest_layer_parameters", largest_layer_parameters(model)},
                          {"layers", model.layer_count()},
                          {"hidden", model.hidden},
                          {"vocabulary", model.vocabulary},
                          {"tied_embeddings", model.tied_embeddings},
                          {"longest_sequence", model.longest_sequence},
                          {"source", model.source},
                          {"note", model.note}});
}

std::string machine_text(const MachineProfile& profile) {
    std::string out = fmt::format("{}: {}\n", profile.id, profile.name);
    for (const std::string& note : profile.notes) out += fmt::format("  {}\n", note);
    out += "\n";
    for (const auto& [path, text] : profile.texts) out += fmt::format("{:<52} {}\n", path, text);
    const auto method = [](auto& one) { return method_name(one.method); };
    const auto from = [](auto& one) {
        return one.note.empty() ? one.source : one.note + " (" + one.source + ")";
    };
    out += to_text(table_of<Quantity>(
        profile.quantities,
        {{"", "number", &Quantity::path},
         {"", "value", Unit::number,
          [](auto& one) { return one.value ? Cell(one.value) : Cell().shown_as("unknown"); }},
         {"", "method", method},
         {"", "date", &Quantity::date},
         {"", "from", from}}));
    const auto points = [](auto& one) {
        std::string words;
        for (const auto& row : one.points)
            words += fmt::format("{}{:g}", words.empty() ? "" : " ", fmt::join(row, ":"));
        return words;
    };
    out += to_text(table_of<Curve>(profile.curves, {{"", "curve", &Curve::path},
                                                    {"", "points", points},
                                                    {"", "method", method},
                                                    {"", "date", &Curve::date},
                                                    {"", "from", &Curve::source}}));
    try {
        for (const std::string& assumption : resolve_machine(profile).assumptions)
            out += fmt::format("assumed: {}\n", assumption);
    } catch (const InputError& error) {
        out += fmt::format("cannot predict yet: {}\n", error.what());
    }
    return out;
}

std::string machine_json(const MachineProfile& profile) {
    Json out = {{"id", profile.id}, {"name", profile.name}, {"notes", profile.notes}};
    for (const auto& [path, text] : profile.texts) out["texts"][path] = text;
    for (const Quantity& one : profile.quantities)
        out["quantities"][one.path] = {{"value", one.value ? Json(*one.value) : Json()},
                                       {"method", method_name(one.method)},
                                       {"source", one.source},
                                       {"date", one.date},
                                       {"note", one.note}};
    for (const Curve& curve : profile.curves)
        out["curves"][curve.path] = {{"points", curve.points},
                                     {"method", method_name(curve.method)},
                                     {"source", curve.source},
                                     {"date", curve.date}};
    return readable_json(out);
}

std::string machine_diff_text(const MachineDiff& diff) {
    std::string out = fmt::format("A: {}\nB: {}\n\n", diff.a, diff.b);
    for (const Table& table : machine_diff_tables(diff))
        if (!table.rows.empty()) out += to_text(table) + "\n";
    return out + only_in("A", diff.only_a) + only_in("B", diff.only_b) +
           fmt::format("equal: {} entries\n", diff.equal);
}

std::string machine_diff_json(const MachineDiff& diff) {
    const std::vector<Table> tables = machine_diff_tables(diff);
    return readable_json({{"a", diff.a},
                          {"b", diff.b},
                          {"texts", to_json(tables[0])},
                          {"numbers", to_json(tables[1], true)},
                          {"curves", to_json(tables[2])},
                          {"kernels", to_json(tables[3])},
                          {"only_a", diff.only_a},
                          {"only_b", diff.only_b},
                          {"equal", diff.equal}});
}

}  // namespace sluice
