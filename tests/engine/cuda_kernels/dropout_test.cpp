// The GPU leaves out the numbers that dropout_bits() says, and scales the others.
#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_matrix.h"

namespace sluice {
namespace {

TEST_CASE("dropout: the numbers of their places, whole and in parts, and in place",
          "[cuda_kernels]") {
    if (!has_gpu()) return;
    for (const auto& [rows, columns] : {std::pair{1, 8}, std::pair{5, 30}, std::pair{300, 1024}}) {
        CAPTURE(rows, columns);
        const Dropout all{20, 99, 7};
        DeviceMatrix in(rows, columns);
        const DeviceMatrix out(rows, columns);
        in.fill_random(4);
        const std::vector<double> before = in.read();
        for (int row = 0; row < rows; ++row) {  // one by one
            Dropout one = all;
            one.first_row += row;
            gpu().kernels().dropout(out.view().row_range(row, 1), in.view().row_range(row, 1), one);
        }
        gpu().kernels().dropout(in.view(), in.view(), all);
        const std::vector<double> parts = out.read(), whole = in.read();
        CHECK(parts == whole);
        CHECK(out.surroundings_intact());
        int wrong = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const std::uint64_t place = static_cast<std::uint64_t>(all.first_row * columns) + i;
            const bool stays = dropout_bits(all.seed, place) >= all.threshold();
            const double expected = stays ? before[i] * double{all.factor()} : 0;
            if (std::abs(whole[i] - expected) > kBf16Error * std::abs(expected)) ++wrong;
        }
        CHECK(wrong == 0);
    }
}

}  // namespace
}  // namespace sluice
