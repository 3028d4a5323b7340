#include "calibrate/transfer/datasheet.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

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
    const JsonObject root = JsonObject::parse(text, file);  // says what is wrong with the syntax
    if (root.text("schema") != kSchema) {
        throw InputError(
            fmt::format("{} is \"{}\", expected \"{}\"; see "
                        "calibrate/transfer/b200.json for an example",
                        root.where("schema"), root.text("schema"), kSchema));
    }
    Json json = Json::parse(text);
    json["schema"] = "sluice-machine/1";
    for (auto& section : json.items()) {
        if (section.key() == "sources") continue;
        add_method(section.value(), fmt::format("{}: {}", file, section.key()));
    }
    return json.dump();
}

}  // namespace sluice
