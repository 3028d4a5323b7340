#include "tests/engine/cuda_kernels/device_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace sluice {
namespace {

constexpr std::int64_t kGuardBytes = 256;
constexpr std::int64_t kRepeatedValues = std::int64_t{1} << 22;

std::uint16_t round_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // To nearest, ties to even; the values are finite.
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double value_at(const unsigned char* data, DType type) {
    std::uint32_t bits = 0;
    if (type == DType::bf16) {
        std::uint16_t half = 0;
        std::memcpy(&half, data, sizeof(half));
        bits = std::uint32_t{half} << 16;
    } else {
        std::memcpy(&bits, data, sizeof(bits));
    }
    return std::bit_cast<float>(bits);
}

std::vector<unsigned char> random_bytes(std::int64_t count, DType type, unsigned seed,
                                        Range range) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<float> random(static_cast<float>(range.low),
                                                 static_cast<float>(range.high));
    const auto size = static_cast<std::size_t>(bytes_of(type));
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count) * size);
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        const float value = random(generator);
        const std::uint16_t half = round_to_bf16(value);
        if (type == DType::bf16) {
            std::memcpy(&bytes[at], &half, size);
        } else {
            std::memcpy(&bytes[at], &value, size);
        }
    }
    return bytes;
}

}  // namespace

void wait_for_device() { SLUICE_CHECK_CUDA(cudaDeviceSynchronize()); }

DeviceMemory allocate_on_device(std::int64_t bytes) {
    void* data = nullptr;
    SLUICE_CHECK_CUDA(cudaMalloc(&data, static_cast<std::size_t>(bytes)));
    return DeviceMemory(data);
}

DeviceMatrix::DeviceMatrix(std::int64_t rows, std::int64_t columns, DType type, Layout layout)
    : matrix_(nullptr, type, rows, columns) {
    matrix_.stride = columns + layout.padding;
    begin_ = kGuardBytes + layout.offset * bytes_of(type);
    bytes_ = begin_ + rows * matrix_.stride * bytes_of(type) + kGuardBytes;
    allocation_ = allocate_on_device(bytes_);
    matrix_.data = static_cast<char*>(allocation_.get()) + begin_;
    poison();
}

void DeviceMatrix::poison() {
    SLUICE_CHECK_CUDA(cudaMemset(allocation_.get(), 0xff, static_cast<std::size_t>(bytes_)));
    wait_for_device();
}

void DeviceMatrix::fill_random(unsigned seed, Range range) {
    const auto width = static_cast<std::size_t>(matrix_.columns * bytes_of(matrix_.type));
    const auto pitch = static_cast<std::size_t>(matrix_.stride * bytes_of(matrix_.type));
    const std::int64_t most_rows =
        std::clamp<std::int64_t>(kRepeatedValues / matrix_.columns, 1, matrix_.rows);
    const auto values = random_bytes(most_rows * matrix_.columns, matrix_.type, seed, range);
    for (std::int64_t row = 0; row < matrix_.rows; row += most_rows) {
        const auto rows = static_cast<std::size_t>(std::min(most_rows, matrix_.rows - row));
        SLUICE_CHECK_CUDA(cudaMemcpy2D(matrix_.row_range(row, 1).data, pitch, values.data(), width,
                                       width, rows, cudaMemcpyHostToDevice));
    }
    wait_for_device();
}

std::vector<unsigned char> DeviceMatrix::read_bytes() const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(bytes_));
    wait_for_device();
    SLUICE_CHECK_CUDA(
        cudaMemcpy(bytes.data(), allocation_.get(), bytes.size(), cudaMemcpyDeviceToHost));
    return bytes;
}

std::vector<double> DeviceMatrix::read() const {
    const std::vector<unsigned char> bytes = read_bytes();
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(matrix_.elements()));
    const std::int64_t size = bytes_of(matrix_.type);
    for (std::int64_t row = 0; row < matrix_.rows; ++row) {
        for (std::int64_t column = 0; column < matrix_.columns; ++column) {
            const std::int64_t at = begin_ + (row * matrix_.stride + column) * size;
            values.push_back(value_at(&bytes[static_cast<std::size_t>(at)], matrix_.type));
        }
    }
    return values;
}

bool DeviceMatrix::surroundings_intact() const {
    std::vector<unsigned char> bytes = read_bytes();
    const std::int64_t size = bytes_of(matrix_.type);
    for (std::int64_t row = 0; row < matrix_.rows; ++row) {
        const auto first = bytes.begin() + begin_ + row * matrix_.stride * size;
        std::fill(first, first + matrix_.columns * size, 0xff);
    }
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0xff; });
}

}  // namespace sluice
