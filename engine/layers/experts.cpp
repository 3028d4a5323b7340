#include "engine/layers/experts.h"

#include <algorithm>

namespace sluice {

/// The choice of experts, and the logits from which it was made.
struct Experts::Routed {
    Matrix logits;
    ExpertRoutes routes;
};

Experts::Experts(const FeedForwardSpec& feed_forward, const LayerLayout& layout, DType activations)
    : spec_(feed_forward),
      router_(layout.router),
      gate_up_(layout.gate_up),
      down_(layout.down),
      type_(activations) {}

Experts::Routed Experts::route(Kernels& kernels, const LayerWeights& weights,
                               const ExpertTokens& of, Workspace& workspace) const {
    const std::int64_t tokens = of.normed.rows, copies = tokens * spec_.experts_per_token;
    const auto numbers = [&](auto*& pointer, std::int64_t count) {
        pointer = static_cast<std::remove_reference_t<decltype(pointer)>>(
            workspace.take(count * static_cast<std::int64_t>(sizeof *pointer)));
    };
    Routed out;
    ExpertRoutes& r = out.routes;
    r.tokens = tokens, r.experts = spec_.experts, r.of_token = spec_.experts_per_token;
    numbers(r.expert, copies), numbers(r.weight, copies), numbers(r.row, copies);
    numbers(r.copy, copies), numbers(r.ends, spec_.experts);
    // In fp32, since a rounded logit may choose another expert.
    out.logits = workspace.matrix(DType::fp32, tokens, spec_.experts);
    kernels.fill_zero(out.logits.data, tokens * spec_.experts * bytes_of(DType::fp32));
    Kernels::Product product;
    product.d = out.logits, product.a = of.normed, product.b = weight(weights, router_);
    product.transpose_b = Transpose::yes, product.accumulate = true;
    kernels.gemm(product);
    kernels.route(r, out.logits, spec_.route_weights, of.busiest);
    return out;
}

void Experts::forward(Kernels& kernels, const LayerWeights& weights, const ExpertTokens& of,
                      Matrix y, Workspace workspace) const {
    const ExpertRoutes routes = route(kernels, weights, of, workspace).routes;
    const std::int64_t rows = routes.rows();
    // First what experts read, then what they write.
    const Matrix copies = workspace.matrix(type_, rows, of.normed.columns);
    const Matrix product = workspace.matrix(type_, rows, spec_.intermediate);
    const Matrix gate_up =
        of.gate_up.present() ? of.gate_up : workspace.matrix(type_, rows, 2 * spec_.intermediate);
    kernels.copy_to_experts(copies, of.normed, routes);
    kernels.expert_products({GemmRole::forward, gate_up, copies, weight(weights, gate_up_)},
                            routes);
    kernels.expert_swiglu(product, gate_up, routes, of.codes);
    kernels.expert_products({GemmRole::forward, copies, product, weight(weights, down_)}, routes);
    kernels.sum_of_experts(y, of.residual, copies, routes);
}

void Experts::backward(Kernels& kernels, const LayerWeights& weights, GradientTarget target,
                       bool add, const ExpertTokens& of, Matrix dy, Workspace workspace) const {
    const Routed routed = route(kernels, weights, of, workspace);
    const ExpertRoutes& routes = routed.routes;
    const Matrix& logits = routed.logits;
    const std::int64_t rows = routes.rows(), hidden = of.normed.columns;
    const Matrix copies = workspace.matrix(type_, rows, hidden);
    const Matrix gradients = workspace.matrix(type_, rows, hidden);
    const Matrix product = workspace.matrix(type_, rows, spec_.intermediate);
    const Matrix gate_up =
        of.gate_up.present() ? of.gate_up : workspace.matrix(type_, rows, 2 * spec_.intermediate);
    auto* const dweights = static_cast<float*>(workspace.take(rows * bytes_of(DType::fp32)));
    const Matrix dlogits = workspace.matrix(type_, logits.rows, logits.columns);
    void* const rounded =
        target.present() && target.type == DType::fp32
            ? workspace.take(kBf16 * std::max(gate_up_.elements(), down_.elements()))
            : nullptr;
    const auto weight_gradient = [&](const TensorPlace& place, const Matrix& d, const Matrix& x) {
        if (target.present())
            kernels.expert_products(
                {GemmRole::weight_gradient, target.matrix(place), d, x, add, rounded}, routes);
    };
    kernels.copy_to_experts(copies, of.normed, routes);
    if (!of.gate_up.present() && !of.codes.present())
        kernels.expert_products({GemmRole::forward, gate_up, copies, weight(weights, gate_up_)},
                                routes);
    kernels.copy_to_experts(gradients, dy, routes);
    kernels.expert_products({GemmRole::input_gradient, product, gradients, weight(weights, down_)},
                            routes);
    kernels.expert_swiglu_backward(gate_up, product, routes, dweights, of.codes);
    weight_gradient(down_, gradients, product);
    weight_gradient(gate_up_, gate_up, copies);
    kernels.expert_products(
        {GemmRole::input_gradient, gradients, gate_up, weight(weights, gate_up_)}, routes);
    kernels.route_backward(dlogits, logits, routes, dweights, spec_.route_weights);
    Kernels::Product of_router;
    if (target.present()) {
        of_router.d = target.matrix(router_), of_router.a = dlogits, of_router.b = of.normed;
        of_router.transpose_a = Transpose::yes;
        of_router.accumulate = add && target.type == DType::fp32;
        kernels.gemm(of_router);
    }
    kernels.sum_of_experts(of.normed, {}, gradients, routes);
    Kernels::Product to_normed;
    to_normed.d = to_normed.addend = of.normed, to_normed.a = dlogits;
    to_normed.b = weight(weights, router_);
    kernels.gemm(to_normed);
}

}  // namespace sluice
