#include "engine/train/choose_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/input_error.h"

namespace sluice {
namespace {

int gpu_ordinal(const std::string& device) {
    if (device == "auto" || device == "cuda") return 0;
    const std::string number = device.substr(std::string("cuda:").size());
    if (number.size() == 1 && number[0] >= '0' && number[0] <= '9') return number[0] - '0';
    throw InputError(fmt::format("--device is \"{}\", expected auto, cpu, cuda or cuda:N", device));
}

}  // namespace

std::unique_ptr<Device> choose_device(const TrainSettings& settings, const HostFacts& host) {
    const std::string& name = settings.device;
    if (name != "auto" && name != "cpu" && name != "cuda" && !name.starts_with("cuda:"))
        throw InputError(
            fmt::format("--device is \"{}\", expected auto, cpu, cuda or cuda:N", name));
    const int half = std::max(1, static_cast<int>(host.cpus.size()) / 2);
    const int threads = settings.cpu_threads > 0 ? settings.cpu_threads : half;
    if (name == "cpu" || (name == "auto" && !built_with_cuda())) return make_cpu_device(threads);
    if (name != "auto") return make_cuda_device(gpu_ordinal(name));
    try {
        return make_cuda_device(0);
    } catch (const InputError&) {
        return make_cpu_device(threads);
    }
}

DType choose_precision(const TrainSettings& settings, const DeviceFacts& device) {
    if (settings.precision == "auto") return device.is_gpu ? DType::bf16 : DType::fp32;
    if (settings.precision == "bf16") return DType::bf16;
    if (settings.precision != "fp32")
        throw InputError(
            fmt::format("--precision is \"{}\", expected auto, bf16 or fp32", settings.precision));
    if (device.is_gpu)
        throw InputError("--precision fp32 runs on the CPU only; give --device cpu, or bf16");
    return DType::fp32;
}

}  // namespace sluice
