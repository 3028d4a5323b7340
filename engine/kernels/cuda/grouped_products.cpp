// Products of groups of rows on Hopper and later, by libtorch's grouped kernel (CUTLASS).
#include "engine/kernels/cuda/grouped_products.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/cuda/GroupMM.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <exception>
#include <string>

namespace {

using at::Tensor;
using sluice::GemmRole;
using sluice::GroupedProducts;
using sluice::Matrix;

class Views {
  public:
    explicit Views(const GroupedProducts& of)
        : of_(of), options_(at::device(at::Device(at::kCUDA, static_cast<char>(of.device)))) {}

    Tensor rows(const Matrix& m) const {
        return at::for_blob(m.data, {m.rows, m.columns})
            .strides({m.stride, 1})
            .options(options_.dtype(at::kBFloat16))
            .target_device(options_.device())
            .make_tensor();
    }
    /// (groups, rows of one, columns): of the weights, or of their gradients.
    Tensor of_groups(const Matrix& m) const {
        return rows(m).unflatten(0, {of_.groups, m.rows / of_.groups});
    }
    Tensor ends() const {
        return at::for_blob(of_.ends, {of_.groups})
            .options(options_.dtype(at::kInt))
            .target_device(options_.device())
            .make_tensor();
    }

  private:
    const GroupedProducts& of_;
    at::TensorOptions options_;
};

void run(const GroupedProducts& of) {
    at::globalContext().lazyInitDevice(at::kCUDA);
    const c10::InferenceMode no_autograd;
    const auto device = static_cast<c10::DeviceIndex>(of.device);
    const c10::cuda::CUDAStreamGuard stream(c10::cuda::getStreamFromExternal(of.stream, device));
    const Views views(of);
    const bool gradient = of.role == GemmRole::weight_gradient;
    Tensor d = gradient ? views.of_groups(of.d) : views.rows(of.d);
    const Tensor a = gradient ? views.rows(of.a).t() : views.rows(of.a);
    Tensor b = gradient ? views.rows(of.b) : views.of_groups(of.b);
    if (of.role == GemmRole::forward) b = b.transpose(1, 2);
    at::cuda::detail::bf16bf16_grouped_mm(a, b, views.ends(), std::nullopt, d);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* sluice_grouped_products(
    const GroupedProducts& products) {
    static thread_local std::string why;
    try {
        run(products);
        return nullptr;
    } catch (const std::exception& error) {
        why = error.what();
        return why.c_str();
    }
}
