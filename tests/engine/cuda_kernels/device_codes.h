// Where do tests keep codes of 8 bits on the device?
#pragma once

#include "engine/kernels/eight_bits.h"
#include "tests/engine/cuda_kernels/device_matrix.h"

namespace sluice {

struct DeviceCodes {
    DeviceCodes(std::int64_t rows, std::int64_t width)
        : view{.width = width},
          codes(std::vector<std::int8_t>(static_cast<std::size_t>(rows * 2 * width), 99)),
          largest(std::vector<std::uint16_t>(static_cast<std::size_t>(rows * 2 * view.groups()),
                                             0x7fff)) {
        view.codes = codes.data();
        view.largest = largest.data();
    }
    EightBits view;
    DeviceArray<std::int8_t> codes;
    DeviceArray<std::uint16_t> largest;
};

}  // namespace sluice
