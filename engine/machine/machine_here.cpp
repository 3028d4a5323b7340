#include "engine/machine/machine_here.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "engine/machine/setup_warnings.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Reserved for the operating system. Profiles subtract it from the purchased memory (H200 machine:
/// 3.3 GB, of which the kernel reserves 2.3); MemTotal already lacks the kernel's part.
constexpr Bytes kSystem = 1'000'000'000;

/// Resident bytes with CUDA, cuBLAS and cuDNN loaded (928 to 960 MiB), as in the profiles; and with
/// PyTorch alone (496 MiB).
constexpr Bytes kProcessWithGpu = 1'000'000'000;
constexpr Bytes kProcessWithoutGpu = 520'000'000;

Bytes capacity_of(const HostFacts& facts, std::optional<Bytes> host_memory) {
    const auto shown = [](Bytes bytes) { return format_bytes(static_cast<double>(bytes)); };
    if (const auto limit = facts.limits.memory; host_memory && limit && *host_memory > *limit)
        throw InputError(fmt::format(
            "--host-memory is {}, but the control group of this process allows {}, and "
            "the kernel kills or slows down a process that takes more; give {}B or less, or raise "
            "the limit ({})",
            shown(*host_memory), shown(*limit), *limit, kHowToRaiseLimit));
    if (!host_memory) host_memory = host_memory_capacity(facts);
    if (host_memory) return *host_memory;
    throw InputError(
        "host memory: the system does not report how much there is (MemTotal in /proc/meminfo); "
        "give --host-memory, as in --host-memory 64GB");
}

/// The system takes its part of the memory, not of a limit that leaves it enough.
Bytes system_reserve(const HostFacts& facts, Bytes capacity) {
    const Bytes total = facts.memory_total.value_or(capacity);
    return std::clamp<Bytes>(capacity - (total - kSystem), 0, kSystem);
}

HostSpec host_here(const HostFacts& facts, Bytes capacity, bool with_gpu) {
    HostSpec host;
    host.memory_capacity = capacity;
    host.system_reserve = system_reserve(facts, capacity);
    host.process_base = with_gpu ? kProcessWithGpu : kProcessWithoutGpu;
    // If the system does not tell which CPUs, their number must do.
    const int cpus = facts.cpus.empty() ? static_cast<int>(std::thread::hardware_concurrency())
                                        : static_cast<int>(facts.cpus.size());
    host.cores = std::max(1, cpus);
    double cores = facts.cpus.empty() ? host.cores : facts.physical_cores();
    if (facts.limits.cpus) cores = std::min(cores, *facts.limits.cpus);
    host.best_adam_threads = std::max(1, static_cast<int>(cores) - kCpusForLanes);
    // Without a GPU its products need cores, too.
    host.adam_threads_after_norm =
        with_gpu ? std::max(1, static_cast<int>(cores)) : host.best_adam_threads;
    return host;
}

}  // namespace

MachineSpec machine_here(const HostFacts& facts, const std::optional<GpuFacts>& gpu,
                         std::optional<Bytes> host_memory) {
    MachineSpec machine;
    machine.id = "this machine";
    machine.host = host_here(facts, capacity_of(facts, host_memory), gpu.has_value());
    machine.unified_memory = !gpu;
    if (gpu) {
        machine.gpu.memory_capacity = gpu->memory_capacity;
        machine.gpu.context = gpu->context;
    } else {
        machine.gpu.memory_capacity = machine.host.memory_capacity - machine.host.system_reserve;
    }
    machine.name =
        fmt::format("{}, {:g} CPUs{}{}, {}", gpu ? gpu->name : "no GPU", machine.host.cores,
                    facts.cpu_model.empty() ? "" : " of ", facts.cpu_model,
                    format_bytes(static_cast<double>(machine.host.memory_capacity)));
    return machine;
}

}  // namespace sluice
