#include "sim/machine/machine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "sim/embedded_files.h"
#include "sim/input_error.h"
#include "sim/json_object.h"
#include "sim/machine/machine_keys.h"
#include "sim/units.h"

namespace sluice {
namespace {

constexpr const char* kSchema = "sluice-machine/1";

// What any number of a profile may be, in its unit; 1e9 GB is the most whose bytes fit 64 bits.
constexpr double kSmallestQuantity = 1e-12;
constexpr double kLargestQuantity = 1e9;

constexpr const char* kHostMemory = "host.memory_capacity_gb";

Method read_method(const JsonObject& quantity) {
    const std::string name = quantity.text("method");
    if (name == "measured") return Method::measured;
    if (name == "datasheet") return Method::datasheet;
    if (name == "estimated") return Method::estimated;
    throw InputError(fmt::format("{} is \"{}\", expected measured, datasheet or estimated",
                                 quantity.where("method"), name));
}

/// Reads one profile by walking its objects: an object with "value" is a quantity, one with
/// "points" a curve.
class ProfileReader {
  public:
    ProfileReader(MachineProfile& profile, JsonObject root)
        : profile_(profile), sources_(root.object("sources")) {
        for (const char* section : kSections) {
            if (const auto object = root.object_or_none(section))
                walk(*object, section, known_keys_in(section).empty());
        }
    }

    static void check_top_level(const JsonObject& root) {
        std::vector<std::string> known = {"schema", "name", "sources", "notes"};
        known.insert(known.end(), kSections.begin(), kSections.end());
        root.allow_only(known);
    }

  private:
    static constexpr std::array kSections = {"gpu",     "kernels", "link",
                                             "host",    "storage", "gpu_interconnect",
                                             "network", "price",   "power"};

    std::string source(const JsonObject& object) const {
        const std::string key = object.text("source");
        if (!sources_.has(key)) {
            throw InputError(fmt::format("{} is \"{}\", expected a key of \"sources\"{}",
                                         object.where("source"), key,
                                         did_you_mean(key, sources_.keys())));
        }
        return sources_.text(key);
    }

    void read_quantity(const JsonObject& object, const std::string& path) {
        object.allow_only({"value", "method", "source", "date", "note"});
        const std::vector<std::string> keys = object.keys();
        if (std::find(keys.begin(), keys.end(), "value") == keys.end()) {
            throw InputError(fmt::format("{} is missing; write null where it is not known",
                                         object.where("value")));
        }
        Quantity quantity;
        quantity.path = path;
        quantity.method = read_method(object);
        quantity.source = source(object);
        quantity.date = object.text("date");
        quantity.note = object.text_or("note", "");
        if (object.has("value")) {
            quantity.value = object.number("value", kSmallestQuantity, kLargestQuantity);
        } else if (quantity.note.empty()) {
            throw InputError(fmt::format("{} is null without a note; say why it is not known",
                                         object.where("value")));
        }
        profile_.quantities.push_back(std::move(quantity));
    }

    void read_curve(const JsonObject& object, const std::string& path) {
        object.allow_only({"points", "columns", "method", "source", "date", "note"});
        Curve curve;
        curve.path = path;
        std::size_t columns = 2;
        if (object.has("columns")) columns = object.texts("columns").size();
        if (columns < 2) {
            throw InputError(fmt::format(
                "{} has {} names, expected at least 2, as in [\"threads\", \"gb_per_s\"]",
                object.where("columns"), columns));
        }
        curve.points = object.rows("points", columns);
        if (!std::is_sorted(curve.points.begin(), curve.points.end(),
                            [](const auto& a, const auto& b) { return a.front() < b.front(); })) {
            throw InputError(
                fmt::format("{} is not in ascending order of its first column; sort it",
                            object.where("points")));
        }
        curve.method = read_method(object);
        curve.source = source(object);
        curve.date = object.text("date");
        curve.note = object.text_or("note", "");
        profile_.curves.push_back(std::move(curve));
    }

    /// `free`: keys are the profile's own, as below `other`.
    void walk(const JsonObject& object, const std::string& path, bool free) {
        if (!free) {
            std::vector<std::string> known = known_keys_in(path);
            known.emplace_back("other");
            object.allow_only(known);
        }
        for (const std::string& key : object.keys())
            read_entry(object, key, path + "." + key, free || key == "other");
    }

    void read_entry(const JsonObject& object, const std::string& key, const std::string& path,
                    bool free) {
        switch (const ValueKind kind = free ? shape(object, key) : known_kind(path)) {
            case ValueKind::number:
            case ValueKind::curve:
                if (!object.is_object(key)) {
                    throw InputError(
                        fmt::format("{} is {}, expected an object with {}, method, source and date",
                                    object.where(key), object.shown_value(key),
                                    kind == ValueKind::curve ? "points" : "value"));
                }
                if (kind == ValueKind::curve) return read_curve(object.object(key), path);
                return read_quantity(object.object(key), path);
            case ValueKind::flag:
                profile_.flags.emplace_back(path, object.boolean_or(key, false));
                return;
            case ValueKind::text:
                profile_.texts.emplace_back(path, object.text(key));
                return;
            case ValueKind::group:
                return walk(object.object(key), path, free);
        }
    }

    /// What a value without a known key looks like; what looks like nothing is meant as a number.
    static ValueKind shape(const JsonObject& object, const std::string& key) {
        if (object.is_text(key)) return ValueKind::text;
        if (!object.is_object(key)) return ValueKind::number;
        const std::vector<std::string> keys = object.object(key).keys();
        const auto holds = [&](const char* name) {
            return std::find(keys.begin(), keys.end(), name) != keys.end();
        };
        if (holds("value")) return ValueKind::number;
        return holds("points") ? ValueKind::curve : ValueKind::group;
    }

    MachineProfile& profile_;
    JsonObject sources_;
};

/// Splits `h200-sxm-pcie5-1.5tb` into the id and the bytes of host memory, where the ending is a
/// size.
std::optional<std::pair<std::string, double>> split_memory_suffix(const std::string& what) {
    const std::size_t dash = what.rfind('-');
    if (dash == std::string::npos || dash + 1 >= what.size()) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(what[dash + 1])) == 0 || what.back() != 'b')
        return std::nullopt;
    try {
        return std::pair(what.substr(0, dash),
                         parse_memory_size(what.substr(dash + 1), "--machine"));
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::optional<MachineProfile> find_in_library(const std::string& id) {
    for (const EmbeddedFile& file : embedded_machines()) {
        if (file.name == id)
            return parse_machine_profile(file.text, fmt::format("hwprofiles/{}.json", id), id);
    }
    return std::nullopt;
}

}  // namespace

const char* method_name(Method method) {
    switch (method) {
        case Method::measured:
            return "measured";
        case Method::datasheet:
            return "datasheet";
        case Method::estimated:
            return "estimated";
    }
    return "";
}

const Quantity* MachineProfile::find(std::string_view path) const {
    const auto found = std::find_if(quantities.begin(), quantities.end(),
                                    [&](const Quantity& q) { return q.path == path; });
    return found == quantities.end() ? nullptr : &*found;
}

const Curve* MachineProfile::find_curve(std::string_view path) const {
    const auto found =
        std::find_if(curves.begin(), curves.end(), [&](const Curve& c) { return c.path == path; });
    return found == curves.end() ? nullptr : &*found;
}

std::string MachineProfile::text(std::string_view path) const {
    for (const auto& [key, value] : texts) {
        if (key == path) return value;
    }
    return "";
}

bool MachineProfile::flag(std::string_view path) const {
    for (const auto& [key, value] : flags) {
        if (key == path) return value;
    }
    return false;
}

void MachineProfile::set(std::string_view path, double value) {
    const auto found = std::find_if(quantities.begin(), quantities.end(),
                                    [&](const Quantity& q) { return q.path == path; });
    const std::vector<std::string>& readable = machine_numbers();
    if (found == quantities.end() &&
        std::find(readable.begin(), readable.end(), path) == readable.end()) {
        std::vector<std::string> known = readable;
        for (const Quantity& quantity : quantities) known.push_back(quantity.path);
        throw InputError(
            fmt::format("--set: {} has no number \"{}\"; list them with: sluice machines show {}{}",
                        id, path, id, did_you_mean(path, known)));
    }
    if (!(value >= kSmallestQuantity && value <= kLargestQuantity)) {
        throw InputError(fmt::format("--set: {} is {:g}, expected a number from {:g} to {:g}", path,
                                     value, kSmallestQuantity, kLargestQuantity));
    }
    Quantity& quantity = found == quantities.end() ? quantities.emplace_back() : *found;
    quantity.path = path;
    quantity.value = value;
    quantity.method = Method::estimated;
    quantity.source = "given on the command line";
    quantity.note = "what-if value";
}

MachineProfile parse_machine_profile(std::string_view text, const std::string& file,
                                     const std::string& id) {
    const JsonObject root = JsonObject::parse(text, file);
    if (root.text("schema") != kSchema) {
        throw InputError(
            fmt::format("{} is \"{}\", expected \"{}\"; make a profile of this version",
                        root.where("schema"), root.text("schema"), kSchema));
    }
    ProfileReader::check_top_level(root);
    MachineProfile profile;
    profile.id = id;
    profile.file = file;
    profile.name = root.text("name");
    if (root.has("notes")) profile.notes = root.texts("notes");
    ProfileReader(profile, root);
    return profile;
}

MachineProfile read_machine_profile(const std::string& what) {
    if (auto profile = find_in_library(what)) return *std::move(profile);
    if (const auto split = split_memory_suffix(what)) {
        if (auto profile = find_in_library(split->first)) {
            profile->id = what;
            profile->set(kHostMemory, split->second / kGiga);
            return *std::move(profile);
        }
    }
    if (what.find('/') != std::string::npos || what.ends_with(".json")) {
        return parse_machine_profile(read_text_file(what), what,
                                     std::filesystem::path(what).stem().string());
    }
    throw InputError(fmt::format(
        "--machine: unknown machine \"{}\"; list them with: sluice machines, or give a path to a "
        "profile{}",
        what, did_you_mean(what, library_machines())));
}

std::vector<std::string> library_machines() {
    std::vector<std::string> ids;
    for (const EmbeddedFile& file : embedded_machines()) ids.emplace_back(file.name);
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace sluice
