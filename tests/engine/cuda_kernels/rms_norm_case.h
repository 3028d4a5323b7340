// RMSNorm and its gradients against the formula in fp64.
#pragma once

#include <cmath>
#include <utility>

#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

struct RmsNormCase {
    static constexpr const char* kName = "rms_norm";
    static constexpr float kEpsilon = 1e-5F;

    struct Shape {
        std::int64_t rows, columns;
        Layout layout = {};
        double scale = 1;  ///< of x
        std::string text() const {
            return fmt::format("{} x {}, padding {}, offset {}, x up to {}", rows, columns,
                               layout.padding, layout.offset, scale);
        }
    };

    explicit RmsNormCase(Shape shape_)
        : shape(shape_),
          y(shape.rows, shape.columns, DType::bf16, shape.layout),
          x(shape.rows, shape.columns, DType::bf16, shape.layout),
          weight(1, shape.columns, DType::bf16, {0, shape.layout.offset}) {
        x.fill_random(1, {-shape.scale, shape.scale});
        weight.fill_random(2);
    }
    void run(CudaKernels& kernels) {
        kernels.rms_norm(y.view(), x.view(), weight.vector(), kEpsilon);
    }
    double check(CudaKernels& kernels) {
        const auto values = x.read(), weights = weight.read();
        std::vector<double> expected(values.size());
        const auto columns = static_cast<std::size_t>(shape.columns);
        for (std::size_t begin = 0; begin < values.size(); begin += columns) {
            double squares = 0;
            for (std::size_t i = 0; i < columns; ++i)
                squares += values[begin + i] * values[begin + i];
            const double rms =
                std::sqrt(squares / static_cast<double>(columns) + static_cast<double>(kEpsilon));
            for (std::size_t i = 0; i < columns; ++i)
                expected[begin + i] = values[begin + i] / rms * weights[i];
        }
        run(kernels);
        return std::max(share_of({1e-6, kBf16Error}, y.read(), expected),
                        share_of_surroundings({&y}));
    }
    double bytes() const { return 4.0 * static_cast<double>(shape.rows * shape.columns); }
    double flops() const { return 0; }

  private:
    Shape shape;
    DeviceMatrix y, x, weight;
};

struct RmsNormBackwardCase {
    static constexpr const char* kName = "rms_norm_backward";
    static constexpr float kEpsilon = 1e-5F;
    enum class Result : std::uint8_t { own, x, dy };  ///< which matrix dx is

    struct Shape {
        std::int64_t rows, columns;
        bool add_to_dx = false;
        DType dweight = DType::bf16;
        bool accumulate = false;
        Result result = Result::own;
        Layout layout = {};
        double scale = 1;
        std::string text() const {
            const char* const result_text[] = {"dx", "x", "dy"};
            return fmt::format("{} x {} into {}{}, {} dweight{}, padding {}, offset {}, x up to {}",
                               rows, columns, result_text[static_cast<int>(result)],
                               add_to_dx ? " added" : "", text_of(dweight),
                               accumulate ? " added" : "", layout.padding, layout.offset, scale);
        }
    };

    explicit RmsNormBackwardCase(Shape shape_)
        : shape(shape_),
          own(shape.rows, shape.columns, DType::bf16, shape.layout),
          dy(shape.rows, shape.columns, DType::bf16, shape.layout),
          x(shape.rows, shape.columns, DType::bf16, shape.layout),
          weight(1, shape.columns, DType::bf16, {0, shape.layout.offset}),
          dweight(1, shape.columns, shape.dweight, {0, shape.layout.offset}) {
        x.fill_random(1, {-shape.scale, shape.scale});
        dy.fill_random(2);
        weight.fill_random(3);
        if (shape.add_to_dx) own.fill_random(4);
        if (shape.accumulate) dweight.fill_random(5);
    }
    void run(CudaKernels& kernels) {
        kernels.rms_norm_backward(dx().view(), shape.add_to_dx, dy.view(), x.view(),
                                  weight.vector(), kEpsilon, dweight.vector(), shape.accumulate);
    }
    double check(CudaKernels& kernels) {
        const auto [expected_dx, expected_dweight] = reference();
        run(kernels);
        // dx is about 1 / scale, where scale is far above epsilon.
        const double size = 1 / std::max(shape.scale, 0.003);
        const Tolerance tolerance{1e-5 * size, kBf16Error};
        return std::max({share_of(tolerance, dx().read(), expected_dx),
                         share_of(gradient_tolerance(shape.dweight, shape.rows), dweight.read(),
                                  expected_dweight),
                         share_of_surroundings({&own, &x, &dy, &dweight})});
    }
    double bytes() const {
        return (shape.add_to_dx ? 8.0 : 6.0) * static_cast<double>(shape.rows * shape.columns);
    }
    double flops() const { return 0; }
    std::vector<double> read_dweight() const { return dweight.read(); }

  private:
    DeviceMatrix& dx() {
        return shape.result == Result::own ? own : shape.result == Result::x ? x : dy;
    }
    std::pair<std::vector<double>, std::vector<double>> reference() {
        const auto values = x.read(), gradients = dy.read(), weights = weight.read();
        const auto columns = static_cast<std::size_t>(shape.columns);
        std::vector<double> dx_sum = shape.add_to_dx ? dx().read() : values;
        if (!shape.add_to_dx) std::fill(dx_sum.begin(), dx_sum.end(), 0.0);
        std::vector<double> dweight_sum = shape.accumulate ? dweight.read() : weights;
        if (!shape.accumulate) std::fill(dweight_sum.begin(), dweight_sum.end(), 0.0);
        for (std::size_t begin = 0; begin < values.size(); begin += columns) {
            double squares = 0, product = 0;
            for (std::size_t i = 0; i < columns; ++i) {
                squares += values[begin + i] * values[begin + i];
                product += gradients[begin + i] * weights[i] * values[begin + i];
            }
            const auto count = static_cast<double>(columns);
            const double rms = std::sqrt(squares / count + static_cast<double>(kEpsilon));
            for (std::size_t i = 0; i < columns; ++i) {
                const double normed = values[begin + i] / rms;
                dx_sum[begin + i] +=
                    (gradients[begin + i] * weights[i] - normed * (product / rms) / count) / rms;
                dweight_sum[i] += gradients[begin + i] * normed;
            }
        }
        return {dx_sum, dweight_sum};
    }

    Shape shape;
    DeviceMatrix own, dy, x, weight, dweight;
};

}  // namespace sluice
