#include "engine/machine/health_watch.h"

#include <fmt/format.h>

#include <utility>

#include "engine/machine/system_files.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

/// Less is told only when it grows: idle pages of libraries are swapped on any machine.
constexpr Bytes kSwappedOnAnyMachine = Bytes{64} << 20;

/// Pages of this process.
Bytes swapped(const std::string& root) {
    return kilobyte_field(SystemFiles(root).text("proc/self/status"), "VmSwap:").value_or(0);
}

}  // namespace

HealthWatch::HealthWatch(std::function<GpuHealth()> gpu, std::string root)
    : gpu_(std::move(gpu)),
      root_(std::move(root)),
      told_swapped_(kSwappedOnAnyMachine),
      told_(gpu_()) {}

std::vector<std::string> HealthWatch::news() {
    std::vector<std::string> out;
    const Bytes now = swapped(root_);
    if (now > told_swapped_) {
        out.push_back(fmt::format(
            "the host has swapped out {} of this run, and steps wait for the disk; stop other "
            "programs, or train with a plan that takes less host memory",
            format_bytes(static_cast<double>(now))));
        told_swapped_ = 2 * now;
    }
    const GpuHealth gpu = gpu_();
    const std::uint64_t before = told_.uncorrected_errors.value_or(0),
                        errors = gpu.uncorrected_errors.value_or(before);
    if (errors > before)
        out.push_back(fmt::format(
            "the GPU's memory had {} that it could not correct, so steps since the last warning or "
            "checkpoint may be wrong; go on from an older checkpoint on another GPU",
            format_number_of(static_cast<std::int64_t>(errors - before), "error")));
    if (gpu.remapping_pending.value_or(false) && !told_.remapping_pending.value_or(false))
        out.push_back(
            "a broken row of the GPU's memory waits to be replaced; reset the GPU when the run has "
            "ended");
    told_ = {errors, gpu.remapping_pending};
    return out;
}

std::function<GpuHealth()> health_of(std::shared_ptr<const Nvml> gpu) {
    return [gpu = std::move(gpu)]() -> GpuHealth {
        if (!gpu) return {};
        return {gpu->uncorrected_memory_errors(), gpu->row_remapping_pending()};
    };
}

std::string xid_words(std::uint64_t xid) {
    static const std::vector<std::pair<std::uint64_t, const char*>> catalog = {
        {13, "a program's error in a kernel"},
        {31, "a program's access to memory that is not its own"},
        {48, "an error of its memory that it cannot correct"},
        {63, "a row of its memory was replaced"},
        {64, "a row of its memory could not be replaced"},
        {74, "an error of NVLink"},
        {79, "the GPU has fallen off the bus"},
        {94, "an error of its memory, contained in one program"},
        {95, "an error of its memory that may have reached any program"},
        {119, "its system processor does not answer"},
        {120, "an error of its system processor"},
    };
    for (const auto& [number, words] : catalog)
        if (number == xid) return fmt::format("Xid {} ({})", xid, words);
    return fmt::format("Xid {}", xid);
}

}  // namespace sluice
