#include "calibrate/transfer/transfer_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/profile/profile_json.h"
#include "calibrate/transfer/transfer_rules.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/json_parser.h"

namespace sluice {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "sluice-datasheet/1";

/// Gives every number below `entry` the method of datasheets.
void add_method(Json& entry, const std::string& where) {
    if (!entry.is_object()) return;
    if (!entry.contains("value")) {
        for (auto& item : entry.items())
            add_method(item.value(), fmt::format("{}.{}", where, item.key()));
        return;
    }
    if (entry.contains("method")) {
        throw InputError(fmt::format(
            "{}.method is {}, expected none: all of a datasheet is of the vendor; leave "
            "it out, or write a profile (sluice-machine/1) where numbers were measured",
            where, entry["method"].dump()));
    }
    Json numbered = {{"value", entry["value"]}, {"method", "datasheet"}};
    for (const auto& item : entry.items())
        if (item.key() != "value") numbered[item.key()] = item.value();
    entry = std::move(numbered);
}

}  // namespace

std::string datasheet_as_profile(std::string_view text, const std::string& file) {
    const JsonObject root = JsonObject::parse(text, file);  // reports errors of the syntax
    if (root.text("schema") != kSchema) {
        throw InputError(
            fmt::format("{} is \"{}\", expected \"{}\"; see "
                        "calibrate/transfer/b200.json for an example",
                        root.where("schema"), root.text("schema"), kSchema));
    }
    Json json = parse_ordered_json(text, file);
    json["schema"] = "sluice-machine/1";
    for (auto& section : json.items()) {
        if (section.key() == "sources") continue;
        add_method(section.value(), fmt::format("{}: {}", file, section.key()));
    }
    return json.dump();
}

namespace {

constexpr const char* kSource = "transfer";

/// The names of a curve's columns; for one without names, from its path.
std::vector<std::string> columns_of(const nlohmann::ordered_json& profile,
                                    const std::string& path) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const auto& curve = profile.at(nlohmann::ordered_json::json_pointer(pointer));
    if (curve.contains("columns")) return curve.at("columns").get<std::vector<std::string>>();
    const std::string name = path.substr(path.rfind('.') + 1);
    const std::size_t by = name.rfind("_by_");
    if (by == std::string::npos) return {"x", name};
    return {name.substr(by + 4), name.substr(0, by)};
}

class ProfileTransfer {
  public:
    ProfileTransfer(const MachineProfile& measured, const Scales& scales, const std::string& date,
                    ProfileJson& out)
        : measured_(measured), scales_(scales), date_(date), out_(out) {}

    void numbers() {
        for (const Quantity& quantity : measured_.quantities) {
            const auto rule = rule_of(quantity.path);
            if (!rule || !quantity.value) continue;
            const auto limited = [&](double value) {
                return rule->most > 0 ? std::min(value, rule->most) : value;
            };
            const double value = limited(*quantity.value * rule->factor);
            RateRange range;
            range.low = std::min(
                value, quantity.low.value_or(*quantity.value) * rule->factor * rule->range.low);
            range.high = std::max(value, limited(quantity.high.value_or(*quantity.value) *
                                                 rule->factor * rule->range.high));
            const bool has_range = range.low < value || range.high > value;
            out_.set_number(quantity.path, value, has_range ? std::optional(range) : std::nullopt,
                            origin(rule->text));
        }
    }

    void curves(const nlohmann::ordered_json& profile) {
        for (const Curve& curve : measured_.curves) {
            const auto rule = rule_of(curve.path);
            if (!rule) continue;
            const auto columns = columns_of(profile, curve.path);
            out_.set_curve(curve.path, columns,
                           transfer_curve(curve.path, columns, curve.points, *rule, scales_),
                           origin(rule->text));
        }
    }

    void kernels() {
        for (const KernelEntry& entry : measured_.kernels) {
            if (entry.method == Method::transferred) {
                throw InputError(fmt::format(
                    "{}: {} is transferred already, expected a measured profile; start from the "
                    "one it was made from",
                    measured_.file, entry.path));
            }
            out_.set_kernel_table(
                transfer_kernels(entry.measured, scales_),
                origin("trend scaled part by part, residual at the same tile waves; held_out's "
                       "mean and worst are of the measured table"));
        }
    }

  private:
    /// Empty if the datasheet already has it.
    std::optional<TransferRule> rule_of(const std::string& path) const {
        return out_.has(path) ? std::nullopt : transfer_rule(path, scales_);
    }
    Origin origin(const std::string& rule) const {
        return {Method::transferred, kSource, date_,
                fmt::format("transferred from {}: {}", measured_.id, rule)};
    }

    const MachineProfile& measured_;
    const Scales& scales_;
    const std::string& date_;
    ProfileJson& out_;
};

std::string id_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

}  // namespace

std::string transfer_profile(const NamedText& measured, const NamedText& datasheet,
                             const std::string& date) {
    const MachineProfile from =
        parse_machine_profile(measured.text, measured.file, id_of(measured.file));
    const std::string sheet_text = datasheet_as_profile(datasheet.text, datasheet.file);
    const MachineProfile sheet =
        parse_machine_profile(sheet_text, datasheet.file, id_of(datasheet.file));
    if (sheet.text("gpu.name").empty())
        throw InputError(
            fmt::format("{}: gpu.name is missing, expected the GPU's name", datasheet.file));
    const Scales scales = scales_between(from, sheet);

    ProfileJson out(sheet.name);
    out.add_source(kSource, fmt::format("sluice-calibrate transfer of {}: from {} ({}) by the "
                                        "datasheets of both",
                                        date, from.id, from.name));
    for (const std::string& note : sheet.notes) out.add_note(note);
    out.add_note(fmt::format("Transferred from {} on {}, not measured. {}", from.id, date,
                             scales_text(scales)));
    out.take_missing(sheet_text, id_of(datasheet.file), {});

    ProfileTransfer transfer(from, scales, date, out);
    transfer.numbers();
    transfer.curves(parse_ordered_json(measured.text, measured.file));
    transfer.kernels();
    return out.text();
}

}  // namespace sluice
