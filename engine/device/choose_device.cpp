// Which device does a command line name: the processor, with libtorch's kernels, or a GPU?
#include <fmt/format.h>

#include "engine/device/device.h"
#include "engine/kernels/cpu_kernels.h"
#include "sim/base/input_error.h"

namespace sluice {

std::unique_ptr<Device> make_cpu_device(int threads) {
    return make_host_memory_device(make_cpu_kernels(threads));
}

namespace {

[[noreturn]] void refuse(const std::string& name) {
    throw InputError(fmt::format("--device is \"{}\", expected auto, cpu, cuda or cuda:N", name));
}

int gpu_ordinal(const std::string& name) {
    if (name == "cuda") return 0;
    const std::string number = name.substr(std::string("cuda:").size());
    if (number.size() == 1 && number[0] >= '0' && number[0] <= '9') return number[0] - '0';
    refuse(name);
}

}  // namespace

std::unique_ptr<Device> make_device(const std::string& name, int cpu_threads,
                                    const HostFacts& host) {
    if (name != "auto" && name != "cpu" && name != "cuda" && !name.starts_with("cuda:"))
        refuse(name);
    if (cpu_threads < 0 || cpu_threads > std::ssize(host.cpus))
        throw InputError(fmt::format("--cpu-threads is {}, expected 0 (half the CPUs) to {}",
                                     cpu_threads, host.cpus.size()));
    const int threads = cpu_threads > 0 ? cpu_threads : default_cpu_threads(host);
    if (name == "cpu" || (name == "auto" && !built_with_cuda())) return make_cpu_device(threads);
    if (name != "auto") return make_cuda_device(gpu_ordinal(name));
    try {
        return make_cuda_device(0);
    } catch (const InputError&) {
        return make_cpu_device(threads);
    }
}

}  // namespace sluice
