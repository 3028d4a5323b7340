// How far is a layer's result from the same computed in float64 by libtorch? (The kernels' tests
// have more of this, under the name that the plan has for its buffers.)
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

#include "engine/kernels/cpu_kernels.h"
#include "tests/engine/rounding.h"

namespace sluice {

constexpr DType kActivationTypes[] = {DType::fp32, DType::bf16};

inline at::ScalarType scalar_type(DType type) {
    return type == DType::bf16 ? at::kBFloat16 : at::kFloat;
}
/// NaN everywhere.
inline at::Tensor unwritten(DType type, at::IntArrayRef shape) {
    return at::full(shape, std::numeric_limits<float>::quiet_NaN(), scalar_type(type));
}
inline at::Tensor random_matrix(DType type, std::int64_t rows, std::int64_t columns) {
    return at::randn({rows, columns}, at::kDouble).to(scalar_type(type));
}
inline Matrix matrix_of(const at::Tensor& t) {
    return {t.data_ptr(), t.scalar_type() == at::kFloat ? DType::fp32 : DType::bf16, t.size(0),
            t.size(1)};
}
/// A leaf of autograd with the values of `t`.
inline at::Tensor leaf_of(const at::Tensor& t) {
    return t.to(at::kDouble).clone().set_requires_grad(true);
}

/// Allowed: |result - expected| <= relative x |expected| + absolute x root mean square of expected.
struct Tolerance {
    double relative, absolute;
};

/// Compares results and prints the largest share of the tolerance that each quantity used.
class Comparison {
  public:
    explicit Comparison(std::string subject) : subject_(std::move(subject)) {}
    ~Comparison() {
        for (const auto& [name, used] : used_) {
            std::printf("%s %s: %.0f%% of tolerance (relative %.2g, absolute %.2g x rms)\n",
                        subject_.c_str(), name.c_str(), 100 * used.share, used.tolerance.relative,
                        used.tolerance.absolute);
        }
    }
    Comparison(const Comparison&) = delete;
    Comparison& operator=(const Comparison&) = delete;

    /// `activations` is the type that the layer computed in.
    void check(const std::string& what, DType activations, const at::Tensor& result,
               const at::Tensor& expected, Tolerance tolerance) {
        const at::Tensor reference = expected.detach().reshape(result.sizes());
        const double rms = std::sqrt(reference.square().mean().item<double>());
        // The last term only keeps 0 of 0 from being NaN.
        const at::Tensor limit =
            reference.abs() * tolerance.relative + (tolerance.absolute * rms + 1e-300);
        const double share =
            ((result.to(at::kDouble) - reference).abs() / limit).max().item<double>();
        const std::string name = (activations == DType::bf16 ? "bf16 " : "fp32 ") + what;
        INFO(subject_ << " " << name);
        CHECK(share <= 1);  // also false where a result is NaN
        Used& used = used_[name];
        used.tolerance = tolerance;
        used.share = std::max(used.share, share);
    }

  private:
    struct Used {
        Tolerance tolerance{};
        double share = 0;
    };
    std::string subject_;
    std::map<std::string, Used> used_;
};

inline Kernels& kernels() {
    static const std::unique_ptr<Kernels> one_thread = make_cpu_kernels(1);
    return *one_thread;
}

}  // namespace sluice
