// The GPU's decoding of NF4 against the CPU's, to the bit.
#include "engine/kernels/nf4.h"

#include <random>

#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_matrix.h"

namespace sluice {
namespace {

TEST_CASE("decode_nf4: the CPU's numbers to the bit", "[cuda_kernels]") {
    if (!has_gpu()) return;
    std::mt19937 random(3);
    for (const auto& [rows, columns] :
         {std::pair{1, 8}, std::pair{3, 24}, std::pair{16, 64}, std::pair{257, 64},
          std::pair{512, 1000}, std::pair{1024, 4096}}) {
        for (const float range : {1e-6F, 0.02F, 50.0F}) {
            CAPTURE(rows, columns, range);
            std::normal_distribution<float> normal(0, range);
            const std::int64_t elements = std::int64_t{rows} * columns;
            std::vector<std::uint16_t> weights, expected(static_cast<std::size_t>(elements));
            for (std::int64_t i = 0; i < elements; ++i)
                weights.push_back(static_cast<std::uint16_t>(
                    std::bit_cast<std::uint32_t>(i / 64 == 2 ? 0.0F : normal(random)) >> 16));
            std::vector<std::uint8_t> block(static_cast<std::size_t>(Nf4Parts(elements).end));
            const Nf4Tensor tensor(block.data(), elements);
            double sum = 0;
            for (std::int64_t group = 0; group < tensor.parts.groups; ++group)
                sum += nf4_sum(weights.data(), tensor, group);
            *tensor.mean() = static_cast<float>(sum / static_cast<double>(tensor.parts.blocks));
            for (std::int64_t group = 0; group < tensor.parts.groups; ++group) {
                encode_nf4(weights.data(), tensor, group, *tensor.mean());
                decode_nf4(expected.data(), tensor, group);
            }
            const DeviceArray<std::uint8_t> on_device(block);
            const DeviceArray<std::uint16_t> out(
                std::vector<std::uint16_t>(static_cast<std::size_t>(elements), 0x7fff));
            gpu().kernels().decode_nf4({out.data(), DType::bf16, rows, columns},
                                       {on_device.data(), elements});
            CHECK((out.read() == expected));
        }
    }
}

}  // namespace
}  // namespace sluice
