#include "calibrate/cli/machine_facts.h"

#include <algorithm>

#include "engine/machine/machine_here.h"
#include "engine/machine/process_memory.h"

namespace sluice {
namespace {

void add_gpu(const DeviceFacts& device, const Nvml* gpu, MachineFacts& facts) {
    facts.has_gpu = true;
    facts.gpu_name = device.name;
    facts.gpu_memory_bytes = static_cast<double>(device.memory_capacity);
    facts.multiprocessors = device.multiprocessors;
    if (gpu == nullptr) return;
    facts.driver = gpu->driver_version().value_or("");
    facts.gpu_power_limit_w = gpu->power_limit_w().value_or(0);
}

}  // namespace

MachineFacts read_machine_facts(const Device& device, const HostFacts& host, const Nvml* gpu,
                                int compute_threads) {
    const DeviceFacts device_facts = device.facts();
    MachineFacts facts;
    std::optional<GpuFacts> gpu_facts;
    if (device_facts.is_gpu) {
        add_gpu(device_facts, gpu, facts);
        gpu_facts = GpuFacts{device_facts.name, device_facts.memory_capacity, device_facts.context};
    } else {
        facts.compute_threads = compute_threads;
    }
    const MachineSpec machine = machine_here(host, gpu_facts);
    facts.activations = device_facts.is_gpu ? "bf16" : "fp32";
    facts.cpu_name = host.cpu_model;
    facts.host_memory_bytes = static_cast<double>(machine.host.memory_capacity);
    facts.system_reserve_bytes = static_cast<double>(machine.host.system_reserve);
    facts.cpus = machine.host.cores;
    facts.physical_cores = host.cpus.empty() ? machine.host.cores : host.physical_cores();
    facts.numa_nodes = static_cast<double>(std::max<std::size_t>(1, host.nodes.size()));
    // What cannot be read is what machine_here() takes.
    facts.process_base_bytes =
        static_cast<double>(read_process_memory().resident().value_or(machine.host.process_base));
    return facts;
}

double context_bytes(const Device& device, const Nvml* gpu, Bytes arena) {
    if (!device.facts().is_gpu) return 0;
    double others = 0;
    if (gpu != nullptr)
        if (const auto programs = gpu->other_programs()) others = programs->memory_bytes;
    return std::max(0.0, static_cast<double>(device.memory_in_use() - arena) - others);
}

}  // namespace sluice
