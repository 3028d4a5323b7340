// Sums of columns and of squares, and rounding, in fp64.
#pragma once

#include <cmath>

#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

struct BiasBackwardCase {
    static constexpr const char* kName = "bias_backward";

    struct Shape {
        std::int64_t rows, columns;
        DType type = DType::bf16;
        bool accumulate = false;
        Layout layout = {};
        std::string text() const {
            return fmt::format("{} x {}, {}{}, padding {}, offset {}", rows, columns, text_of(type),
                               accumulate ? " added" : "", layout.padding, layout.offset);
        }
    };

    explicit BiasBackwardCase(Shape shape_)
        : shape(shape_),
          dbias(1, shape.columns, shape.type),
          dy(shape.rows, shape.columns, DType::bf16, shape.layout) {
        dy.fill_random(1);
        if (shape.accumulate) dbias.fill_random(2);
    }
    void run(CudaKernels& kernels) {
        kernels.bias_backward(dbias.vector(), dy.view(), shape.accumulate);
    }
    double check(CudaKernels& kernels) {
        const auto columns = static_cast<std::size_t>(shape.columns);
        std::vector<double> expected(columns, 0);
        if (shape.accumulate) expected = dbias.read();
        const auto gradients = dy.read();
        for (std::size_t i = 0; i < gradients.size(); ++i) expected[i % columns] += gradients[i];
        run(kernels);
        return std::max(
            share_of(gradient_tolerance(shape.type, shape.rows), dbias.read(), expected),
            share_of_surroundings({&dbias, &dy}));
    }
    double bytes() const { return 2.0 * static_cast<double>(shape.rows * shape.columns); }
    double flops() const { return 0; }

  private:
    Shape shape;
    DeviceMatrix dbias, dy;
};

struct SumSquaresCase {
    static constexpr const char* kName = "sum_squares";

    struct Shape {
        std::int64_t size;
        DType type = DType::bf16;
        std::int64_t offset = 0;
        std::string text() const {
            return fmt::format("{} {}, offset {}", size, text_of(type), offset);
        }
    };

    explicit SumSquaresCase(Shape shape_)
        : shape(shape_), values(1, shape.size, shape.type, {0, shape.offset}), sum({kBefore}) {
        values.fill_random(1);
    }
    void run(CudaKernels& kernels) { kernels.sum_squares(values.vector(), sum.data()); }
    double check(CudaKernels& kernels) {
        double expected = kBefore;
        for (const double value : values.read()) expected += value * value;
        run(kernels);
        // fp32 adds up to 32 squares, each sum rounded by 6e-8 at most.
        return share_of({0, 5e-7}, sum.read(), {expected});
    }
    double bytes() const { return static_cast<double>(shape.size * bytes_of(shape.type)); }
    double flops() const { return 0; }
    std::vector<double> read() const { return sum.read(); }

  private:
    static constexpr double kBefore = 2.25;
    Shape shape;
    DeviceMatrix values;
    DeviceArray<double> sum;
};

struct RoundCase {
    static constexpr const char* kName = "round_to_bf16";

    struct Shape {
        std::int64_t size, offset = 0;
        std::string text() const { return fmt::format("{}, offset {}", size, offset); }
    };

    explicit RoundCase(Shape shape_)
        : shape(shape_),
          out(1, shape.size, DType::bf16, {0, shape.offset}),
          in(1, shape.size, DType::fp32, {0, shape.offset}) {
        in.fill_random(1);
    }
    void run(CudaKernels& kernels) { kernels.round_to_bf16(out.vector(), in.vector()); }
    double check(CudaKernels& kernels) {
        run(kernels);
        // Half a unit in the last place, exactly.
        return std::max(share_of({0, 1.0 / 256}, out.read(), in.read()),
                        share_of_surroundings({&out, &in}));
    }
    double bytes() const { return 6.0 * static_cast<double>(shape.size); }
    double flops() const { return 0; }

  private:
    Shape shape;
    DeviceMatrix out, in;
};

}  // namespace sluice
