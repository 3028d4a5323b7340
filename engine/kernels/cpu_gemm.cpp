#include <ATen/ATen.h>

#include "engine/kernels/cpu_tensors.h"

namespace sluice::cpu {
namespace {

/// Rows and columns that are converted at once. 512: each number of a tile is used in 512
/// multiplications, so its conversion costs little.
constexpr std::int64_t kTile = 512;

/// Indices [begin, begin + count) of a dimension.
struct Range {
    std::int64_t begin, count;
};

/// Calls function(Range) for all of `size`, in parts of kTile if `tiled`.
template <typename Function>
void for_each_part(std::int64_t size, bool tiled, Function function) {
    const std::int64_t step = tiled ? kTile : size;
    for (std::int64_t begin = 0; begin < size; begin += step)
        function(Range{begin, std::min(step, size - begin)});
}

at::Tensor tile(const at::Tensor& matrix, Range rows, Range columns) {
    return matrix.narrow(0, rows.begin, rows.count).narrow(1, columns.begin, columns.count);
}

/// A product's matrices as libtorch sees them; a is (m, k), b is (k, n).
class Operands {
  public:
    explicit Operands(const Kernels::Product& product)
        : d_(view(product.d)), a_(view(product.a)), b_(view(product.b)), product_(product) {
        if (product.transpose_a == Transpose::yes) a_ = a_.t();
        if (product.transpose_b == Transpose::yes) b_ = b_.t();
        if (a_.size(0) != d_.size(0) || a_.size(1) != b_.size(0) || b_.size(1) != d_.size(1))
            throw InternalError(fmt::format("gemm: ({}, {}) x ({}, {}) does not give ({}, {})",
                                            a_.size(0), a_.size(1), b_.size(0), b_.size(1),
                                            d_.size(0), d_.size(1)));
        for (const auto& [matrix, scale] :
             {std::pair{product.a, product.scale_a}, std::pair{product.b, product.scale_b}})
            require(is_fp8(matrix.type) == (scale != nullptr), "gemm", "scales with FP8 alone");
        require(!product.accumulate || is_fp32(d_), "gemm", "fp32 sums to accumulate in");
    }

    void multiply() const {
        for_each_part(d_.size(0), !is_fp32(d_) || !is_fp32(a_), [&](Range rows) {
            for_each_part(d_.size(1), !is_fp32(d_) || !is_fp32(b_),
                          [&](Range columns) { multiply(rows, columns); });
        });
    }

  private:
    static bool is_fp32(const at::Tensor& matrix) { return matrix.scalar_type() == at::kFloat; }

    void multiply(Range rows, Range columns) const {
        const at::Tensor place = tile(d_, rows, columns);
        at::Tensor sum = is_fp32(d_) ? place : at::empty({rows.count, columns.count}, at::kFloat);
        bool adds = product_.accumulate;
        if (product_.addend.present()) {
            sum.copy_(tile(view(product_.addend), rows, columns));
            adds = true;
        }
        for_each_part(a_.size(1), !is_fp32(a_) || !is_fp32(b_), [&](Range inner) {
            const at::Tensor a = fp32(tile(a_, rows, inner)), b = fp32(tile(b_, inner, columns));
            // Copies of codes; powers of two change no bit of a product.
            if (product_.scale_a != nullptr) a.mul_(product_.scale_a->back);
            if (product_.scale_b != nullptr) b.mul_(product_.scale_b->back);
            if (adds || product_.alpha != 1)
                at::addmm_out(sum, sum, a, b, adds ? 1 : 0, product_.alpha);
            else
                at::mm_out(sum, a, b);
            adds = true;
        });
        if (product_.bias.present())
            sum.add_(view(product_.bias).narrow(0, columns.begin, columns.count));
        if (!is_fp32(d_)) store(place, sum);
    }

    at::Tensor d_, a_, b_;
    const Kernels::Product& product_;
};

}  // namespace

void gemm(const Kernels::Product& product) { Operands(product).multiply(); }

}  // namespace sluice::cpu
