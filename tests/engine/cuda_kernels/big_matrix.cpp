#include "tests/engine/cuda_kernels/big_matrix.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/catch.h"

namespace sluice {

bool has_device_memory(std::int64_t bytes) {
    std::size_t available = 0, total = 0;
    SLUICE_CHECK_CUDA(cudaMemGetInfo(&available, &total));
    constexpr std::int64_t kRoom = std::int64_t{1} << 30;
    const bool enough = static_cast<std::int64_t>(available) >= bytes + kRoom;
    if (!enough)
        WARN(fmt::format("skipped: {:.1f} GB of device memory are needed, {:.1f} GB are free",
                         static_cast<double>(bytes + kRoom) / 1e9,
                         static_cast<double>(available) / 1e9));
    return enough;
}

std::vector<float> read_columns(Matrix matrix, std::int64_t first, std::int64_t count) {
    std::vector<std::uint16_t> numbers(static_cast<std::size_t>(matrix.rows * count));
    const auto width = static_cast<std::size_t>(count * bytes_of(matrix.type));
    const auto pitch = static_cast<std::size_t>(matrix.stride * bytes_of(matrix.type));
    wait_for_device();
    SLUICE_CHECK_CUDA(
        cudaMemcpy2D(numbers.data(), width, static_cast<const std::uint16_t*>(matrix.data) + first,
                     pitch, width, static_cast<std::size_t>(matrix.rows), cudaMemcpyDeviceToHost));
    std::vector<float> values(numbers.size());
    std::transform(numbers.begin(), numbers.end(), values.begin(), [](std::uint16_t number) {
        return std::bit_cast<float>(std::uint32_t{number} << 16);
    });
    return values;
}

std::vector<float> read_floats(const float* on_device, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    wait_for_device();
    SLUICE_CHECK_CUDA(cudaMemcpy(values.data(), on_device, values.size() * sizeof(float),
                                 cudaMemcpyDeviceToHost));
    return values;
}

CopyOfRows::CopyOfRows(Matrix of, std::int64_t first, std::int64_t count)
    : copy_(count, of.columns, of.type) {
    const Matrix from = of.row_range(first, count), to = copy_.view();
    const auto bytes = [&](std::int64_t elements) {
        return static_cast<std::size_t>(elements * bytes_of(of.type));
    };
    wait_for_device();
    SLUICE_CHECK_CUDA(cudaMemcpy2D(to.data, bytes(to.stride), from.data, bytes(from.stride),
                                   bytes(of.columns), static_cast<std::size_t>(count),
                                   cudaMemcpyDeviceToDevice));
    wait_for_device();
}

}  // namespace sluice
