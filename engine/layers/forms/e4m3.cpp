// Codes of FP8 alone, in the order of rows: scales of the matrices, vectors, codes. The bytes are
// those that casts on the device give.
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <span>

#include "engine/layers/layer_form.h"
#include "engine/optimizer/weight_codes.h"

namespace sluice {
namespace {

constexpr std::size_t kMatrices = std::size(kCodedMatrices);

constexpr auto kScaleBytes = static_cast<std::int64_t>(kMatrices * sizeof(Fp8Scale));

std::span<Fp8Scale> scales_in(void* block) { return {static_cast<Fp8Scale*>(block), kMatrices}; }

/// Nearly always the power of two of a tensor is the one before: only where it is not are its codes
/// written twice.
class CodesWriter : public BlockWriter {
  public:
    explicit CodesWriter(const BlockOfLayer& of) : of_(of), scales_(scales_in(of.block)) {
        for (std::size_t i = 0; i < kMatrices; ++i)
            factor_[i] = scales_[i].back > 0 ? 1 / scales_[i].back : 1;
    }

    void after(std::int64_t begin, std::int64_t end) override {
        copy_vectors(of_, begin, end);
        for (std::size_t i = 0; i < kMatrices; ++i) {
            const PieceOfTensor piece(of_.from.*kCodedMatrices[i], begin, end);
            if (piece.count > 0) write(i, piece.begin, piece.count);
        }
    }

    void finish() override {
        for (std::size_t i = 0; i < kMatrices; ++i) {
            const std::uint32_t largest = std::uint32_t{largest_[i]} << 16;
            const float factor = fp8_factor(largest, DType::e4m3);
            const std::int64_t count = (of_.from.*kCodedMatrices[i]).elements();
            if (std::isnan(factor)) {
                constexpr int kNan = 0x7f;
                std::memset(codes(i), kNan, static_cast<std::size_t>(count));
            } else if (factor != factor_[i]) {
                constexpr std::int64_t kGrain = std::int64_t{1} << 16;
                factor_[i] = factor;
                of_.pool.parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
                    write(i, begin, end - begin);
                });
            }
            scales_[i] = {1 / factor, largest};
        }
    }

  private:
    std::uint8_t* codes(std::size_t matrix) const {
        return static_cast<std::uint8_t*>(
            matrix_at(of_.block, DType::e4m3, of_.to.*kCodedMatrices[matrix]).data);
    }
    void write(std::size_t i, std::int64_t begin, std::int64_t count) {
        const std::int64_t first = (of_.from.*kCodedMatrices[i]).offset + begin;
        const std::uint16_t found =
            weight_codes(of_.weights + first, codes(i) + begin, count, factor_[i]);
        std::uint16_t known = largest_[i];
        while (known < found && !largest_[i].compare_exchange_weak(known, found)) continue;
    }

    const BlockOfLayer of_;
    const std::span<Fp8Scale> scales_;
    std::array<float, kMatrices> factor_{};
    std::array<std::atomic<std::uint16_t>, kMatrices> largest_{};
};

}  // namespace

LayerForm e4m3_layer() {
    return {[](const LayerLayout& bf16) {
                return coded_layout(bf16, kScaleBytes,
                                    [](const TensorPlace& matrix) { return matrix.elements(); });
            },
            [](LayerWeights& weights, const TensorPlace& place, std::size_t index) {
                return Operand{Matrix{}, nullptr, true,
                               CastOperand{matrix_at(weights.block, DType::e4m3, place),
                                           {},
                                           &scales_in(weights.block)[index]}};
            },
            [](const BlockOfLayer& of) -> std::unique_ptr<BlockWriter> {
                return std::make_unique<CodesWriter>(of);
            }};
}

}  // namespace sluice
