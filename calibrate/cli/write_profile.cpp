#include "calibrate/cli/write_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "calibrate/profile/sections.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Whether this program measured or transferred it.
bool is_calibrated(const std::string& file) {
    const std::string text = read_text_file(file);
    const auto sources = JsonObject::parse(text, file).object_or_none("sources");
    if (sources && sources->has(kCalibrationSource)) return true;
    const MachineProfile profile = parse_machine_profile(text, file, "");
    return std::any_of(profile.quantities.begin(), profile.quantities.end(),
                       [](const Quantity& q) { return q.method == Method::transferred; });
}

/// Cases without which measurements alone predict nothing; a stated assumption replaces the other
/// cases.
constexpr std::array kNeededCases = {"device_copy", "gemm", "host_memory", "copies"};

std::vector<std::string> missing_needed_cases(const Measurements& measurements) {
    std::vector<std::string> missing;
    for (const char* name : kNeededCases) {
        const bool done =
            std::any_of(measurements.cases.begin(), measurements.cases.end(),
                        [&](const CaseRecord& record) { return record.name == name; });
        if (!done) missing.emplace_back(name);
    }
    return missing;
}

/// Another machine's profile at `file` is not overwritten, unless `base` names it.
void check_same_machine(const MachineProfile& profile, const std::string& file,
                        const std::optional<std::string>& base) {
    std::error_code ignored;
    if (!fs::exists(file) || (base && fs::equivalent(file, *base, ignored))) return;
    const std::string there = parse_machine_profile(read_text_file(file), file, "").name;
    if (there == profile.name) return;
    throw InputError(
        fmt::format("--out {}: is the profile of another machine ({}; this one is {}), which would "
                    "be lost; name another file",
                    file, there, profile.name));
}

/// Throws unless predictions can use the profile.
void check_resolves(const MachineProfile& profile, const Measurements& measurements) {
    try {
        resolve_machine(profile);
    } catch (const InputError&) {
        const std::vector<std::string> missing = missing_needed_cases(measurements);
        if (missing.empty()) throw;
        throw MissingCases(
            fmt::format("no profile yet: a prediction also needs the cases {}, or --base PROFILE "
                        "with their numbers; the measurements are kept",
                        fmt::join(missing, ", ")),
            missing);
    }
}

template <typename Entry>
std::size_t count_of_source(const std::vector<Entry>& entries, const std::string& source) {
    return static_cast<std::size_t>(std::ranges::count(entries, source, &Entry::source));
}

}  // namespace

std::string confidence_text(const MachineProfile& profile, const std::string& source) {
    const std::size_t here = count_of_source(profile.quantities, source) +
                             count_of_source(profile.curves, source) +
                             count_of_source(profile.kernels, source);
    const std::size_t all =
        profile.quantities.size() + profile.curves.size() + profile.kernels.size();
    return fmt::format(
        "confidence of predictions: {}, the weakest origin among the rates that they use; {} of "
        "the profile's {} numbers, curves and kernel times were measured here",
        confidence_name(resolve_machine(profile).confidence), here, all);
}

std::string measurements_file(const std::string& profile_file) {
    const fs::path path(profile_file);
    return (path.parent_path() / "measurements" / (path.stem().string() + ".json")).string();
}

void check_profile_file(const std::string& file, const std::optional<std::string>& base) {
    const fs::path folder = fs::absolute(file).parent_path();
    if (!fs::is_directory(folder))
        throw InputError(
            fmt::format("--out {}: the folder {} does not exist; make it, or name another file",
                        file, folder.string()));
    if (fs::path(file).extension() != ".json")
        throw InputError(
            fmt::format("--out is {}, expected a name that ends with .json; name it so", file));
    std::error_code ignored;
    if (!fs::exists(file) || (base && fs::equivalent(file, *base, ignored))) return;
    if (!is_calibrated(file))
        throw InputError(
            fmt::format("--out {}: exists and was not written by sluice-calibrate, so its numbers "
                        "would be lost; name another file, or calibrate with --base {} to keep the "
                        "numbers that are not measured",
                        file, file));
}

std::string example_model(const MachineSpec& machine) {
    constexpr const char* kLarge = "qwen2.5-3b";
    constexpr const char* kSmall = "qwen2.5-0.5b";
    // Without a GPU memory is one pool, and a step of 3B parameters takes half an hour.
    if (machine.unified_memory) return kSmall;
    const TrainingSpec training;
    const StepPlan plan = plan_step(read_model(kLarge), machine, training);
    return check_fit(plan, machine, training).fits() ? kLarge : kSmall;
}

void write_checked(const std::string& text, const std::string& file,
                   const std::optional<std::string>& base) {
    const std::string id = fs::path(file).stem().string();
    const MachineProfile profile = parse_machine_profile(text, file, id);
    resolve_machine(profile);
    check_same_machine(profile, file, base);
    write_file(file, text);
    // A name without a folder would be searched in the library.
    const std::string path = fs::path(file).has_parent_path() ? file : "./" + file;
    const MachineSpec machine = resolve_machine(read_machine_profile(path));
    for (const std::string& assumption : machine.assumptions)
        fmt::print("assumed: {}\n", assumption);
    fmt::print("{}: written; predict with: ./dev predict --model {} --machine {}\n", file,
               example_model(machine), path);
}

void write_profile(const Measurements& measurements, const std::string& file,
                   const std::optional<std::string>& base) {
    const MachineFits fits = fit_machine(measurements);
    std::optional<BaseProfile> base_profile;
    if (base) base_profile = read_base_profile(*base, "--base");
    const std::string text = make_profile(measurements, fits, base_profile);
    const MachineProfile profile = parse_machine_profile(text, file, measurements.id);
    fmt::print("{}\n", summary_text(profile, measurements, fits));
    std::fflush(stdout);  // before errors are written to the other stream
    check_resolves(profile, measurements);
    fmt::print("{}\n", confidence_text(profile, calibration_source(measurements)));
    write_checked(text, file, base);
}

}  // namespace sluice
