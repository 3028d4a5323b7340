#include "calibrate/profile/make_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "calibrate/profile/sections.h"
#include "sim/base/embedded_files.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/units.h"
#include "sim/specs/machine/machine_number.h"

namespace sluice {
namespace {

std::string machine_name(const MachineFacts& facts) {
    return fmt::format("{}, {:g} CPUs{}{}, {:.4g} GB", facts.has_gpu ? facts.gpu_name : "no GPU",
                       facts.cpus, facts.cpu_name.empty() ? "" : " of ", facts.cpu_name,
                       facts.host_memory_bytes / kGiga);
}

void take_from_base(const BaseProfile& base, ProfileJson& profile) {
    // The providers of the base do not rent this machine.
    std::vector<std::string> left_out = {"price.rent_usd_per_gpu_hour",
                                         "price.ownership_usd_per_gpu_hour", "price.system_usd",
                                         "price.system_gpus", "price.system_memory_gb"};
    for (const MachineNumber& row : machine_table())
        if (row.replaced_by != nullptr && profile.has(row.replaced_by))
            left_out.emplace_back(row.path);
    const std::vector<std::string> taken = profile.take_missing(base.text, base.id, left_out);
    if (taken.empty()) return;
    profile.add_note(
        fmt::format("{} entries that sluice-calibrate did not measure are those of "
                    "the base, each with its own source.",
                    taken.size()));
}

/// Predictions use measured times of all kernels or of none.
void drop_incomplete_kernels(ProfileJson& profile) {
    std::vector<std::string> present, missing;
    for (int i = 0; i < kKernelTables; ++i) {
        const char* name = kernel_table_name(static_cast<KernelTableId>(i));
        const bool has = profile.has(fmt::format("kernels.{}", name));
        (has ? present : missing).emplace_back(name);
    }
    if (present.empty() || missing.empty()) return;
    for (const std::string& name : present) profile.remove("kernels." + name);
    profile.add_note(
        fmt::format("Times of single kernels ({}) are left out, since those of {} are "
                    "not measured.",
                    fmt::join(present, ", "), fmt::join(missing, ", ")));
}

void add_notes(const Measurements& m, ProfileJson& profile) {
    profile.add_note(
        "Made by sluice-calibrate: low and high are the 5th and 95th percentile of what was "
        "measured.");
    const bool quick = std::any_of(m.cases.begin(), m.cases.end(),
                                   [](const CaseRecord& record) { return record.quick; });
    if (quick)
        profile.add_note(
            "Some cases were measured with --quick: fewer shapes and repeats, so that kernel times "
            "between them are less certain.");
    for (const CaseRecord& record : m.cases)
        for (const std::string& warning : record.warnings) profile.add_note(warning);
}

}  // namespace

BaseProfile read_base_profile(const std::string& what, const std::string& option) {
    for (const EmbeddedFile& file : embedded_machines())
        if (file.name == what) return {what, std::string(file.text)};
    const std::filesystem::path path(what);
    if (what.find('/') == std::string::npos && path.extension() != ".json") {
        throw InputError(fmt::format(
            "{}: unknown machine \"{}\"; list them with: sluice machines, or give a path to a "
            "profile{}",
            option, what, did_you_mean(what, library_machines())));
    }
    BaseProfile base{path.stem().string(), read_text_file(what)};
    parse_machine_profile(base.text, what, base.id);
    return base;
}

std::string calibration_source(const Measurements& m) {
    double seconds = 0;
    for (const CaseRecord& record : m.cases) seconds += record.seconds;
    const std::vector<std::string> files =
        m.pooled_files.empty() ? std::vector{m.id + ".json"} : m.pooled_files;
    return fmt::format("sluice-calibrate of {} on {}{}{}, {:.0f} s; measurements/{}", m.days(),
                       machine_name(m.facts), m.facts.driver.empty() ? "" : ", driver ",
                       m.facts.driver, seconds, fmt::join(files, ", measurements/"));
}

std::string make_profile(const Measurements& measurements, const MachineFits& fits,
                         const std::optional<BaseProfile>& base) {
    ProfileJson profile(machine_name(measurements.facts));
    profile.add_source(kCalibrationSource, calibration_source(measurements));
    add_notes(measurements, profile);
    add_gpu(measurements, fits, profile);
    add_link(measurements, profile);
    add_host(measurements, fits, profile);
    add_storage(measurements, profile);
    add_power(measurements, profile);
    add_clock(measurements, profile);
    add_gpu_interconnect(measurements, profile);
    drop_incomplete_kernels(profile);
    if (base) take_from_base(*base, profile);
    if (!profile.has("link.type") && !measurements.facts.is_host_only())
        profile.set_text("link.type", "PCIe, as measured");
    return profile.text();
}

}  // namespace sluice
