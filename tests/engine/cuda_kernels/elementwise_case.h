// SwiGLU, cross-entropy and their gradients against the formulas in fp64.
#pragma once

#include <cmath>

#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

struct SwigluCase {
    static constexpr const char* kName = "swiglu";

    struct Shape {
        std::int64_t rows, width;
        Layout layout = {};
        double scale = 4;  ///< of gate and up
        std::string text() const {
            return fmt::format("{} x {}, padding {}, offset {}, gate up to {}", rows, width,
                               layout.padding, layout.offset, scale);
        }
    };

    explicit SwigluCase(Shape shape_)
        : shape(shape_),
          product(shape.rows, shape.width, DType::bf16, shape.layout),
          gate_up(shape.rows, 2 * shape.width, DType::bf16, shape.layout) {
        gate_up.fill_random(1, {-shape.scale, shape.scale});
    }
    void run(CudaKernels& kernels) { kernels.swiglu(product.view(), gate_up.view()); }
    double check(CudaKernels& kernels) {
        const auto values = gate_up.read();
        const auto width = static_cast<std::size_t>(shape.width);
        std::vector<double> expected;
        for (std::size_t row = 0; row < values.size(); row += 2 * width) {
            for (std::size_t i = row; i < row + width; ++i)
                expected.push_back(values[i] / (1 + std::exp(-values[i])) * values[i + width]);
        }
        run(kernels);
        return std::max(share_of({1e-6, kBf16Error}, product.read(), expected),
                        share_of_surroundings({&product, &gate_up}));
    }
    double bytes() const { return 6.0 * static_cast<double>(shape.rows * shape.width); }
    double flops() const { return 0; }

  private:
    Shape shape;
    DeviceMatrix product, gate_up;
};

struct SwigluBackwardCase {
    static constexpr const char* kName = "swiglu_backward";
    using Shape = SwigluCase::Shape;

    explicit SwigluBackwardCase(Shape shape_)
        : shape(shape_),
          gate_up(shape.rows, 2 * shape.width, DType::bf16, shape.layout),
          dproduct(shape.rows, shape.width, DType::bf16, shape.layout) {
        gate_up.fill_random(1, {-shape.scale, shape.scale});
        dproduct.fill_random(2);
    }
    void run(CudaKernels& kernels) { kernels.swiglu_backward(gate_up.view(), dproduct.view()); }
    double check(CudaKernels& kernels) {
        auto expected = gate_up.read();
        const auto gradients = dproduct.read();
        std::vector<double> product(gradients.size());
        const auto width = static_cast<std::size_t>(shape.width);
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            double& gate = expected[i / width * 2 * width + i % width];
            double& up = expected[i / width * 2 * width + width + i % width];
            const double sigmoid = 1 / (1 + std::exp(-gate));
            const double slope = sigmoid * (1 + gate * (1 - sigmoid));
            const double dgate = gradients[i] * up * slope;
            product[i] = gate * sigmoid * up;
            up = gradients[i] * gate * sigmoid;
            gate = dgate;
        }
        run(kernels);
        return std::max({share_of({3e-6 * shape.scale, kBf16Error}, gate_up.read(), expected),
                         share_of({1e-6, kBf16Error}, dproduct.read(), product),
                         share_of_surroundings({&gate_up, &dproduct})});
    }
    double bytes() const { return 12.0 * static_cast<double>(shape.rows * shape.width); }
    double flops() const { return 0; }

  private:
    Shape shape;
    DeviceMatrix gate_up, dproduct;
};

struct CrossEntropyCase {
    static constexpr const char* kName = "cross_entropy";

    struct Shape {
        std::int64_t rows, vocabulary;
        float scale = 1;
        bool ignored = false;  ///< every third row has no target
        Layout layout = {};
        double range = 10;  ///< of the logits
        std::string text() const {
            return fmt::format("{} x {} times {}{}, padding {}, offset {}, logits up to {}", rows,
                               vocabulary, scale, ignored ? ", some ignored" : "", layout.padding,
                               layout.offset, range);
        }
    };

    explicit CrossEntropyCase(Shape shape_)
        : shape(shape_),
          logits(shape.rows, shape.vocabulary, DType::bf16, shape.layout),
          target_values(targets_of(shape)),
          targets(target_values),
          loss({kLossBefore}) {
        logits.fill_random(1, {-shape.range, shape.range});
    }
    void run(CudaKernels& kernels) {
        kernels.cross_entropy(logits.view(), targets.data(), shape.scale, loss.data());
    }
    double check(CudaKernels& kernels) {
        auto expected = logits.read();
        double expected_loss = kLossBefore;
        const auto columns = static_cast<std::size_t>(shape.vocabulary);
        for (std::size_t row = 0; row < target_values.size(); ++row) {
            double* values = &expected[row * columns];
            const std::int32_t target = target_values[row];
            double sum = 0;  // exp(logit) fits fp64
            for (std::size_t i = 0; i < columns; ++i) sum += std::exp(values[i]);
            if (target >= 0) expected_loss += scale() * (std::log(sum) - values[target]);
            for (std::size_t i = 0; i < columns; ++i) {
                const double hit = static_cast<std::int64_t>(i) == target ? 1 : 0;
                values[i] = target < 0 ? 0 : scale() * (std::exp(values[i]) / sum - hit);
            }
        }
        run(kernels);
        // fp32 holds log-sum-exp, about 10, to 1e-6, which is the relative error of exp(x - it).
        const Tolerance loss_tolerance{1e-5 * scale() * static_cast<double>(shape.rows), 1e-6};
        return std::max({share_of({1e-7 * scale(), kBf16Error}, logits.read(), expected),
                         share_of(loss_tolerance, loss.read(), {expected_loss}),
                         share_of_surroundings({&logits})});
    }
    /// The row once in and once out; what is read a second time should come from near by.
    double bytes() const { return 4.0 * static_cast<double>(shape.rows * shape.vocabulary); }
    double flops() const { return 0; }

  private:
    static constexpr double kLossBefore = 0.5;
    double scale() const { return static_cast<double>(shape.scale); }
    static std::vector<std::int32_t> targets_of(const Shape& shape) {
        std::vector<std::int32_t> values;
        for (std::int64_t row = 0; row < shape.rows; ++row) {
            // The first, the last, and others in between.
            const std::int64_t target = row == 0   ? 0
                                        : row == 1 ? shape.vocabulary - 1
                                                   : row * 7919 % shape.vocabulary;
            values.push_back(shape.ignored && row % 3 == 2 ? -100
                                                           : static_cast<std::int32_t>(target));
        }
        return values;
    }

    Shape shape;
    DeviceMatrix logits;
    std::vector<std::int32_t> target_values;
    DeviceArray<std::int32_t> targets;
    DeviceArray<double> loss;
};

}  // namespace sluice
