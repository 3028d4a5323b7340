// How long do the kernels of experts take at a model's shapes? Tokens are spread at random, so that
// experts have nearly equal shares.
#pragma once

#include <random>

#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

struct ExpertCase {
    static constexpr const char* kName = "experts";

    enum class Work : std::uint8_t {
        route,
        route_backward,
        copies,
        sum,
        swiglu,
        swiglu_backward,
        gate_up,
        gate_up_input,
        gate_up_weights,
        down,
        down_input,
        down_weights,
    };
    struct Shape {
        Work work;
        const char* name;
        std::int64_t tokens, hidden, experts, of_token, width;
        std::int64_t rows() const { return tokens * of_token; }
        std::string text() const {
            return fmt::format("{}: {} tokens of {}, {} of {} experts of {}", name, tokens, hidden,
                               of_token, experts, width);
        }
    };

    explicit ExpertCase(const Shape& of)
        : shape(of),
          numbers(std::vector<std::int32_t>(static_cast<std::size_t>(3 * of.rows() + of.experts))),
          weights(std::vector<float>(static_cast<std::size_t>(2 * of.rows()))),
          logits(of.tokens, of.experts, DType::fp32),
          dlogits(of.tokens, of.experts),
          tokens(of.tokens, of.hidden),
          copies(of.rows(), of.hidden),
          product(of.rows(), of.width),
          gate_up(of.rows(), 2 * of.width),
          matrices(3 * of.experts * of.width, of.hidden) {
        routes.tokens = of.tokens, routes.experts = of.experts, routes.of_token = of.of_token;
        routes.expert = numbers.data(), routes.row = routes.expert + of.rows();
        routes.copy = routes.row + of.rows(), routes.ends = routes.copy + of.rows();
        routes.weight = weights.data();
        for (DeviceMatrix* const each : {&logits, &tokens, &copies, &product, &gate_up, &matrices})
            each->fill_random(1);
        std::mt19937 random(1);
        std::uniform_real_distribution<float> uniform;
        std::vector<float> values(static_cast<std::size_t>(of.tokens * of.experts));
        for (float& value : values) value = uniform(random);
        SLUICE_CHECK_CUDA(cudaMemcpy(logits.view().data, values.data(),
                                     values.size() * sizeof(float), cudaMemcpyHostToDevice));
        wait_for_device();
        gpu().kernels().route(routes, logits.view(), RouteWeights::of_chosen, nullptr);
    }

    void run(CudaKernels& kernels) {
        const std::int64_t of_gate_up = 2 * shape.experts * shape.width;
        const Matrix up = matrices.view().row_range(0, of_gate_up);
        const Matrix down(up.row_range(of_gate_up, 1).data, DType::bf16,
                          shape.experts * shape.hidden, shape.width);
        const auto products = [&](GemmRole role, Matrix d, Matrix a, Matrix b) {
            kernels.expert_products({role, d, a, b}, routes);
        };
        switch (shape.work) {
            case Work::route:
                return kernels.route(routes, logits.view(), RouteWeights::of_chosen, nullptr);
            case Work::route_backward:
                return kernels.route_backward(dlogits.view(), logits.view(), routes,
                                              weights.data() + shape.rows(),
                                              RouteWeights::of_chosen);
            case Work::copies:
                return kernels.copy_to_experts(copies.view(), tokens.view(), routes);
            case Work::sum:
                return kernels.sum_of_experts(tokens.view(), tokens.view(), copies.view(), routes);
            case Work::swiglu:
                return kernels.expert_swiglu(product.view(), gate_up.view(), routes);
            case Work::swiglu_backward:
                return kernels.expert_swiglu_backward(gate_up.view(), product.view(), routes,
                                                      weights.data() + shape.rows());
            case Work::gate_up:
                return products(GemmRole::forward, gate_up.view(), copies.view(), up);
            case Work::gate_up_input:
                return products(GemmRole::input_gradient, copies.view(), gate_up.view(), up);
            case Work::gate_up_weights:
                return products(GemmRole::weight_gradient, up, gate_up.view(), copies.view());
            case Work::down:
                return products(GemmRole::forward, copies.view(), product.view(), down);
            case Work::down_input:
                return products(GemmRole::input_gradient, product.view(), copies.view(), down);
            case Work::down_weights:
                return products(GemmRole::weight_gradient, down, copies.view(), product.view());
        }
    }

    /// Products: operands and result once.
    double bytes() const {
        const auto tokens_ = static_cast<double>(shape.tokens * shape.hidden * kBf16);
        const auto copies_ = static_cast<double>(shape.rows() * shape.hidden * kBf16);
        const auto widths = static_cast<double>(shape.rows() * shape.width * kBf16);
        const auto logits_ = static_cast<double>(shape.tokens * shape.experts);
        const auto weights_ =
            static_cast<double>(shape.experts * shape.width * shape.hidden * kBf16);
        switch (shape.work) {
            case Work::route:
                return kFp32 * logits_ + 7.0 * 4 * static_cast<double>(shape.rows());
            case Work::route_backward:
                return (kFp32 + kBf16) * logits_ + 3.0 * 4 * static_cast<double>(shape.rows());
            case Work::copies:
                return tokens_ + copies_;
            case Work::sum:
                return 2 * tokens_ + copies_;
            case Work::swiglu:
                return 3 * widths;
            case Work::swiglu_backward:
                return 6 * widths;
            case Work::gate_up:
            case Work::gate_up_input:
            case Work::gate_up_weights:
                return copies_ + 2 * widths + 2 * weights_;
            default:
                return copies_ + widths + weights_;
        }
    }
    double flops() const {
        const double one = 2.0 * static_cast<double>(shape.rows() * shape.hidden) *
                           static_cast<double>(shape.width);
        if (shape.work < Work::gate_up) return 0;
        return shape.work < Work::down ? 2 * one : one;
    }

    Shape shape;
    DeviceArray<std::int32_t> numbers;
    DeviceArray<float> weights;
    DeviceMatrix logits, dlogits, tokens, copies, product, gate_up, matrices;
    ExpertRoutes routes;
};

}  // namespace sluice
