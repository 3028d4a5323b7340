// What a build without CUDA knows of several GPUs.
#include "engine/device/peer_copy.h"
#include "sim/base/input_error.h"

namespace sluice {

int gpu_count() { return 0; }
std::string gpu_bus_id(int) { return ""; }
std::string attached_gpu_bus_id() { return ""; }

std::unique_ptr<PeerCopy> make_peer_copy(int, int, Bytes) {
    throw InternalError("copies between GPUs in a build without CUDA");
}

}  // namespace sluice
