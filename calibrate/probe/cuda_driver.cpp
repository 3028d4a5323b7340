#include "calibrate/probe/cuda_driver.h"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "calibrate/probe/shared_library.h"

namespace sluice {
namespace {

std::optional<CudaDriver> load() {
    const auto library = SharedLibrary::open({"libcuda.so.1"});
    if (!library) return std::nullopt;
    CudaDriver driver{};
    library->find("cuInit", driver.init);
    library->find("cuDeviceGetCount", driver.count);
    library->find("cuDeviceGet", driver.device);
    library->find("cuDeviceGetName", driver.name);
    library->find("cuDeviceGetAttribute", driver.attribute);
    library->find("cuDeviceGetPCIBusId", driver.bus_id);
    library->find("cuDevicePrimaryCtxRetain", driver.retain_context);
    library->find("cuCtxSetCurrent", driver.set_context);
    library->find("cuCtxSynchronize", driver.synchronize);
    library->find("cuMemGetInfo_v2", driver.memory);
    library->find("cuMemAlloc_v2", driver.allocate);
    library->find("cuMemFree_v2", driver.release);
    library->find("cuMemsetD8_v2", driver.fill);
    library->find("cuMemHostRegister_v2", driver.register_host);
    library->find("cuMemHostUnregister", driver.unregister_host);
    library->find("cuMemcpyAsync", driver.copy);
    library->find("cuStreamCreate", driver.create_stream);
    library->find("cuEventCreate", driver.create_event);
    library->find("cuEventRecord", driver.record);
    library->find("cuStreamWaitEvent", driver.wait);
    library->find("cuEventSynchronize", driver.wait_for);
    library->find("cuEventElapsedTime", driver.elapsed);
    library->find("cuGetErrorName", driver.error_name);
    int gpus = 0;
    if (driver.init(0) != 0 || driver.count(&gpus) != 0 || gpus == 0) return std::nullopt;
    return driver;
}

}  // namespace

void CudaDriver::check(int status, const char* what) const {
    if (status == 0) return;
    const char* error = nullptr;
    error_name(status, &error);
    throw std::runtime_error(fmt::format("CUDA driver: {} failed: {}", what,
                                         error == nullptr ? "unknown error" : error));
}

const CudaDriver* cuda_driver() {
    static const std::optional<CudaDriver> driver = load();
    return driver ? &*driver : nullptr;
}

}  // namespace sluice
