#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/units.h"
#include "sim/specs/machine/machine_number.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

constexpr double kMostRented = 1024;
constexpr const char* kSchema = "sluice-machine/1";

Method read_method(const JsonObject& quantity) {
    const std::string name = quantity.text("method");
    for (const Method method :
         {Method::measured, Method::transferred, Method::datasheet, Method::estimated})
        if (name == method_name(method)) return method;
    throw InputError(
        fmt::format("{} is \"{}\", expected measured, transferred, datasheet or "
                    "estimated",
                    quantity.where("method"), name));
}

/// Precondition: a table has the path, such as "kernels.gemm_forward".
KernelTableId kernel_table_at(std::string_view path) {
    const auto name = std::ranges::find(kKernelTableNames, path.substr(path.find('.') + 1));
    return static_cast<KernelTableId>(name - std::begin(kKernelTableNames));
}

/// Reads one profile by walking its objects: an object with "value" is a quantity, one with
/// "points" a curve.
class ProfileReader {
  public:
    ProfileReader(MachineProfile& profile, JsonObject root)
        : profile_(profile), sources_(root.object("sources")) {
        for (const ProfileSection& section : kSections) {
            if (const auto object = root.object_or_none(section.name))
                walk(*object, section.name, section.free);
        }
        require_all_kernels(root.file());
        require_below_peaks(root.file());
    }

    static void check_top_level(const JsonObject& root) {
        std::vector<std::string> known = {"schema", "name", "sources", "notes"};
        for (const ProfileSection& section : kSections) known.emplace_back(section.name);
        root.allow_only(known);
    }

  private:
    std::string source(const JsonObject& object) const {
        const std::string key = object.text("source");
        if (!sources_.has(key)) {
            throw InputError(fmt::format("{} is \"{}\", expected a key of \"sources\"{}",
                                         object.where("source"), key,
                                         did_you_mean(key, sources_.keys())));
        }
        return sources_.text(key);
    }

    template <typename Entry>
    void read_origin(const JsonObject& object, Entry& entry) const {
        entry.method = read_method(object);
        entry.source = source(object);
        entry.date = object.text("date");
        entry.note = object.text_or("note", "");
    }

    void read_quantity(const JsonObject& object, const std::string& path) {
        object.allow_only({"value", "low", "high", "spot", "gpu_memory_gb", "rented_gpus",
                           "most_gpus", "method", "source", "date", "note"});
        if (!object.holds("value")) {
            throw InputError(fmt::format("{} is missing; write null where it is not known",
                                         object.where("value")));
        }
        Quantity quantity;
        quantity.path = path;
        read_origin(object, quantity);
        quantity.spot = object.boolean_or("spot", false);
        quantity.gpu_memory_gb =
            object.number_or_none("gpu_memory_gb", kSmallestQuantity, kLargestQuantity);
        quantity.rented_gpus = object.number_or_none("rented_gpus", 1, kMostRented).value_or(1);
        quantity.most_gpus = object.number_or_none("most_gpus", quantity.rented_gpus, kMostRented);
        if (object.has("value")) {
            read_value(object, quantity);
        } else if (quantity.note.empty()) {
            throw InputError(fmt::format("{} is null without a note; say why it is not known",
                                         object.where("value")));
        }
        profile_.quantities.push_back(std::move(quantity));
    }

    static void read_value(const JsonObject& object, Quantity& quantity) {
        try {
            quantity.value = object.number("value", least_value(quantity.path), kLargestQuantity);
            read_range(object, quantity);
        } catch (const InputError& error) {
            const MachineNumber* const row = number_at(quantity.path);
            if (row == nullptr || row->measured_by == nullptr) throw;
            throw InputError(
                fmt::format("{}; measure it again with: sluice-calibrate --only {} --out FILE",
                            error.what(), row->measured_by));
        }
    }

    /// 5 to 95%: both ends or none.
    static void read_range(const JsonObject& object, Quantity& quantity) {
        if (!object.has("low") && !object.has("high")) return;
        quantity.low = object.number("low", 0, *quantity.value);
        quantity.high = object.number("high", *quantity.value, kLargestQuantity);
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
        if (curve.points.empty()) {
            throw InputError(
                fmt::format("{} is empty, expected one row or more; leave the curve "
                            "out where it is not known",
                            object.where("points")));
        }
        if (!std::is_sorted(curve.points.begin(), curve.points.end(),
                            [](const auto& a, const auto& b) { return a.front() < b.front(); })) {
            throw InputError(
                fmt::format("{} is not in ascending order of its first column; sort it",
                            object.where("points")));
        }
        read_origin(object, curve);
        check_curve(curve, object.where("points"));
        profile_.curves.push_back(std::move(curve));
    }

    void read_kernels(const JsonObject& object, const std::string& path) {
        KernelEntry entry;
        entry.path = path;
        entry.measured = read_kernel_measurement(object, kernel_table_at(path));
        read_origin(object, entry);
        profile_.kernels.push_back(std::move(entry));
    }

    void require_below_peaks(const std::string& file) const {
        for (const MachineNumber& row : machine_table()) {
            if (row.peak == nullptr) continue;
            const char* const path = row.faster_peak != nullptr && profile_.number(row.faster_peak)
                                         ? row.faster_peak
                                         : row.peak;
            const auto reached = profile_.number(row.path), peak = profile_.number(path);
            if (!reached || !peak || *reached <= row.most_of_peak * *peak) continue;
            throw InputError(fmt::format(
                "{}: {} is {:g}, expected at most {} times {}, which is {:g}; measure it again "
                "with: sluice-calibrate --only {} --out FILE",
                file, row.path, *reached, row.most_of_peak, path, *peak, row.measured_by));
        }
    }

    /// A measured kind of kernel and an assumed one would be compared as if both were known.
    void require_all_kernels(const std::string& file) const {
        if (profile_.kernels.empty()) return;
        const double multiprocessors = profile_.number("gpu.multiprocessors").value_or(1);
        for (const KernelEntry& entry : profile_.kernels)
            check_predictions(entry.measured, multiprocessors, file + ": " + entry.path);
        for (int i = 0; i < kKernelTables; ++i) {
            const auto id = static_cast<KernelTableId>(i);
            const auto has = [id](const KernelEntry& entry) { return entry.measured.id == id; };
            if (std::any_of(profile_.kernels.begin(), profile_.kernels.end(), has)) continue;
            throw InputError(fmt::format(
                "{}: kernels.{} is missing while kernels.{} is given; measure it with: "
                "sluice-calibrate --only {} --out FILE",
                file, kernel_table_name(id),
                kernel_table_name(profile_.kernels.front().measured.id), kernel_table_case(id)));
        }
    }

    /// `free`: the profile chooses its keys, as below `other`.
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
            case ValueKind::kernels:
                if (object.is_object(key)) return read_kernels(object.object(key), path);
                throw InputError(
                    fmt::format("{} is {}, expected an object with columns, points "
                                "and trend",
                                object.where(key), object.shown_value(key)));
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

    /// The kind of a value with an unknown key, by its form; a number if the form tells nothing.
    static ValueKind shape(const JsonObject& object, const std::string& key) {
        if (object.is_text(key)) return ValueKind::text;
        if (!object.is_object(key)) return ValueKind::number;
        const JsonObject entry = object.object(key);
        if (entry.holds("value")) return ValueKind::number;
        return entry.holds("points") ? ValueKind::curve : ValueKind::group;
    }

    MachineProfile& profile_;
    JsonObject sources_;
};

}  // namespace

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

}  // namespace sluice
