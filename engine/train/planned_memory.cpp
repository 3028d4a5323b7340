#include "engine/train/planned_memory.h"

#include <fmt/format.h>

#include <cstdio>

#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

std::string size(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

void double_device_memory(StepReport& report) {
    Peak& device = report.fit.device.peak;
    Peak& host = report.fit.host.peak;
    if (report.unified_memory) host.bytes += device.bytes;
    for (std::size_t kind = 0; kind < device.by_kind.size(); ++kind) {
        if (report.unified_memory) host.by_kind[kind] += device.by_kind[kind];
        device.by_kind[kind] *= 2;
    }
    device.bytes *= 2;
}

void print_planned_memory(const StepReport& report, const DeviceFacts& device, DType activations) {
    fmt::print("{} ({} parameters, {} layers) on {}, activations in {}\n", report.model_name,
               format_count(static_cast<double>(report.parameters)), report.layers, device.name,
               activations == DType::fp32 ? "fp32" : "bf16");
    fmt::print("{:<16} {:>10} {:>10}\n", "planned memory", "device", "host");
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<std::size_t>(i);
        const Bytes on_device = report.fit.device.peak.by_kind[kind];
        const Bytes on_host = report.fit.host.peak.by_kind[kind];
        if (on_device + on_host == 0) continue;
        fmt::print("{:<16} {:>10} {:>10}\n", memory_kind_name(static_cast<MemoryKind>(i)),
                   size(on_device), size(on_host));
    }
    fmt::print("{:<16} {:>10} {:>10}\n", "peak", size(report.fit.device.peak.bytes),
               size(report.fit.host.peak.bytes));
    std::fflush(stdout);
}

void refuse_misfit(const StepReport& report, const std::string& hint) {
    const Fit& fit = report.fit;
    if (fit.fits()) return;
    std::string shortages;
    const auto add = [&shortages](const char* name, const Fit::OfTier& tier) {
        if (tier.shortfall() == 0) return;
        shortages +=
            fmt::format("{}{} needs {}, has {} (short {})", shortages.empty() ? "" : "; ", name,
                        size(tier.peak.bytes), size(tier.usable), size(tier.shortfall()));
    };
    if (!report.unified_memory) add("the device", fit.device);
    add(report.unified_memory ? "host memory, the CPU's device memory included," : "the host",
        fit.host);
    throw InputError(
        fmt::format("does not fit: {}; sluice predict names what would fit a machine like this{}",
                    shortages, hint.empty() ? "" : ". " + hint));
}

}  // namespace sluice
