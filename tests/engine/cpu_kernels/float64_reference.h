// How far is a kernel's result from the same computed in float64 by libtorch?
#pragma once

#include "tests/catch.h"
// libtorch has a CHECK of its own, which aborts.
#pragma push_macro("CHECK")
#undef CHECK
#include <ATen/ATen.h>
#pragma pop_macro("CHECK")

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/kernels/cpu_kernels.h"
#include "tests/engine/rounding.h"

namespace sluice {

/// A matrix whose rows lie `gap` elements apart in memory that is NaN wherever nothing was written.
class TestMatrix {
  public:
    TestMatrix(DType type, std::int64_t rows, std::int64_t columns, std::int64_t gap = 0,
               std::int64_t offset = 0)
        : type_(type), rows_(rows), columns_(columns), stride_(columns + gap), offset_(offset) {
        storage_ = at::full({offset + rows * stride_}, std::numeric_limits<float>::quiet_NaN(),
                            type == DType::bf16 ? at::kBFloat16 : at::kFloat);
    }
    /// A matrix of the shape of `values`, rounded; a vector becomes a single row.
    static TestMatrix of(DType type, const at::Tensor& values, std::int64_t gap = 0,
                         std::int64_t offset = 0) {
        const std::int64_t columns = values.size(-1);
        TestMatrix buffer(type, values.numel() / columns, columns, gap, offset);
        buffer.place().copy_(values.reshape({-1, columns}));
        return buffer;
    }
    static TestMatrix random(DType type, std::int64_t rows, std::int64_t columns,
                             std::int64_t gap = 0) {
        return of(type, at::randn({rows, columns}, at::kDouble), gap);
    }
    TestMatrix copy() const {
        TestMatrix other = *this;
        other.storage_ = storage_.clone();
        return other;
    }

    Matrix matrix() const {
        char* const data = static_cast<char*>(storage_.data_ptr()) + offset_ * bytes_of(type_);
        Matrix m(data, type_, rows_, columns_);
        m.stride = stride_;
        return m;
    }
    Vector vector() const { return {matrix().data, type_, columns_}; }
    /// (rows, columns) float64.
    at::Tensor values() const { return place().to(at::kDouble); }
    /// The single row, (columns) float64.
    at::Tensor row() const { return values().squeeze(0); }
    bool gaps_untouched() const {
        const std::int64_t all = rows_ * (stride_ - columns_) + offset_;
        return storage_.isnan().sum().item<std::int64_t>() ==
               all + place().isnan().sum().item<std::int64_t>();
    }
    bool same_bits(const TestMatrix& other) const { return at::equal(place(), other.place()); }

  private:
    at::Tensor place() const {
        return storage_.as_strided({rows_, columns_}, {stride_, 1}, offset_);
    }
    DType type_;
    std::int64_t rows_, columns_, stride_, offset_;
    at::Tensor storage_;
};

/// Allowed: |result - expected| <= relative x |expected| + absolute x root mean square of expected.
struct Tolerance {
    double relative, absolute;
};
/// Attention over 400 tokens and 24 heads has the most terms here: scores, their softmax, and the
/// sums over keys, of forward and backward. Products have up to 1100.
constexpr double kFp32Error = fp32_error(3 * (400 + 64));
/// A result that is rounded to bf16 uses nearly all of that.
inline Tolerance tolerance_of(DType type) {
    return {type == DType::fp32 ? kFp32Error : kFp32Error + kBf16Rounding, kFp32Error};
}

/// Compares the results of one kernel and prints the largest share of the tolerance used.
class Comparison {
  public:
    explicit Comparison(std::string kernel) : kernel_(std::move(kernel)) {}
    ~Comparison() {
        for (const auto& [name, used] : used_) {
            std::printf("%s %s: %.0f%% of tolerance (relative %.2g, absolute %.2g x rms)\n",
                        kernel_.c_str(), name.c_str(), 100 * used.share, used.tolerance.relative,
                        used.tolerance.absolute);
        }
    }
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    void check(const std::string& what, DType type, const TestMatrix& result,
               const at::Tensor& expected, Tolerance tolerance) {
        const at::Tensor reference = expected.detach().reshape(result.values().sizes());
        const double rms = std::sqrt(reference.square().mean().item<double>());
        // The last term only keeps 0 of 0 from being NaN.
        const at::Tensor limit =
            reference.abs() * tolerance.relative + (tolerance.absolute * rms + 1e-300);
        const double share = ((result.values() - reference).abs() / limit).max().item<double>();
        const std::string name = (type == DType::bf16 ? "bf16 " : "fp32 ") + what;
        INFO(kernel_ << " " << name);
        CHECK(share <= 1);  // also false where a result is NaN
        CHECK(result.gaps_untouched());
        Used& used = used_[name];
        used.tolerance = tolerance;
        used.share = std::max(used.share, share);
    }
    void check(const std::string& what, DType type, const TestMatrix& result,
               const at::Tensor& expected) {
        check(what, type, result, expected, tolerance_of(result.matrix().type));
    }

  private:
    struct Used {
        Tolerance tolerance{};
        double share = 0;
    };
    std::string kernel_;
    std::map<std::string, Used> used_;
};

inline at::Tensor with_gradient(const at::Tensor& values) {
    return values.clone().set_requires_grad(true);
}

inline Kernels& kernels() {
    static const std::unique_ptr<Kernels> two_threads = make_cpu_kernels(2);
    return *two_threads;
}

constexpr DType kActivationTypes[] = {DType::fp32, DType::bf16};
constexpr float kEpsilon = 1e-2F;  // large enough to be missed

}  // namespace sluice
