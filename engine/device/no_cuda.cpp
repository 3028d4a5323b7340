// The GPU functions of a build without CUDA.
#include "engine/device/device.h"
#include "engine/device/peer_copy.h"
#include "sim/base/input_error.h"

namespace sluice {

bool built_with_cuda() { return false; }

std::unique_ptr<Device> make_cuda_device(int) {
    throw InputError(
        "--device cuda: this sluice-train was built without CUDA; install it with ./dev setup "
        "engine and build again, or give --device cpu");
}

int gpu_count() { return 0; }
std::string gpu_bus_id(int) { return ""; }
std::string attached_gpu_bus_id() { return ""; }

std::unique_ptr<PeerCopy> make_peer_copy(int, int, Bytes) {
    throw InternalError("copies between GPUs in a build without CUDA");
}

}  // namespace sluice
