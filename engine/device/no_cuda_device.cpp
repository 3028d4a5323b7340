// What a build without CUDA says of GPUs.
#include "engine/device/device.h"
#include "sim/base/input_error.h"

namespace sluice {

bool built_with_cuda() { return false; }

std::unique_ptr<Device> make_cuda_device(int) {
    throw InputError(
        "--device cuda: this sluice-train was built without CUDA; install it with ./dev setup "
        "engine and build again, or give --device cpu");
}

}  // namespace sluice
