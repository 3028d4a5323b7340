#include "engine/train/choose_device.h"

#include <fmt/format.h>

#include "engine/device/make_device.h"
#include "sim/base/input_error.h"

namespace sluice {

std::unique_ptr<Device> choose_device(const TrainSettings& settings, const HostFacts& host) {
    return make_device(settings.device, settings.cpu_threads, host);
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
