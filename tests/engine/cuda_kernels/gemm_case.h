// Product of matrices against three loops in fp64.
#pragma once

#include <optional>

#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

struct GemmCase {
    static constexpr const char* kName = "gemm";
    enum class Added : std::uint8_t { nothing, addend, sum };

    struct Shape {
        std::int64_t m, n, k;
        Transpose transpose_a = Transpose::no, transpose_b = Transpose::no;
        DType type = DType::bf16;
        Added added = Added::nothing;
        bool bias = false;
        Layout layout = {};

        std::string text() const {
            const char* const added_text[] = {"", " + addend", " + sum"};
            return fmt::format("{} ({} x {}){} ({} x {}){}{}{}, padding {}, offset {}",
                               text_of(type), m, k, transpose_a == Transpose::yes ? "^T" : "", k, n,
                               transpose_b == Transpose::yes ? "^T" : "",
                               added_text[static_cast<int>(added)], bias ? " + bias" : "",
                               layout.padding, layout.offset);
        }
    };

    explicit GemmCase(Shape shape_)
        : shape(shape_), d(shape.m, shape.n, shape.type, shape.layout), bias(1, shape.n) {
        const bool swap_a = shape.transpose_a == Transpose::yes;
        const bool swap_b = shape.transpose_b == Transpose::yes;
        a.emplace(swap_a ? shape.k : shape.m, swap_a ? shape.m : shape.k, DType::bf16,
                  shape.layout);
        b.emplace(swap_b ? shape.n : shape.k, swap_b ? shape.k : shape.n, DType::bf16,
                  shape.layout);
        a->fill_random(1);
        b->fill_random(2);
        bias.fill_random(3);
        if (shape.added == Added::addend) {
            addend.emplace(shape.m, shape.n, shape.type, shape.layout);
            addend->fill_random(4);
        }
        if (shape.added == Added::sum) d.fill_random(5);
    }

    void run(CudaKernels& kernels) {
        Kernels::Product product{d.view(), a->view(), b->view()};
        product.transpose_a = shape.transpose_a;
        product.transpose_b = shape.transpose_b;
        if (shape.added == Added::addend) product.addend = addend->view();
        if (shape.bias) product.bias = bias.vector();
        product.accumulate = shape.added == Added::sum;
        kernels.gemm(product);
    }

    double check(CudaKernels& kernels) {
        const auto a_values = a->read(), b_values = b->read(), bias_values = bias.read();
        std::vector<double> expected(static_cast<std::size_t>(shape.m * shape.n), 0);
        if (shape.added == Added::addend) expected = addend->read();
        if (shape.added == Added::sum) expected = d.read();
        for (std::int64_t row = 0; row < shape.m; ++row) {
            for (std::int64_t column = 0; column < shape.n; ++column) {
                double sum = shape.bias ? bias_values[static_cast<std::size_t>(column)] : 0;
                for (std::int64_t i = 0; i < shape.k; ++i)
                    sum += a_values[at(shape.transpose_a, row, i, shape.m, shape.k)] *
                           b_values[at(shape.transpose_b, i, column, shape.k, shape.n)];
                expected[static_cast<std::size_t>(row * shape.n + column)] += sum;
            }
        }
        run(kernels);
        // Tensor cores add in fp32, in an order of their own and with fewer bits than fp32 has.
        const Tolerance tolerance{4e-6 * static_cast<double>(shape.k) + 1e-6,
                                  shape.type == DType::bf16 ? kBf16Error : 1e-6};
        return std::max(share_of(tolerance, d.read(), expected), share_of_surroundings({&d}));
    }

    double bytes() const {
        return 2.0 * static_cast<double>(shape.m * shape.k + shape.k * shape.n) +
               static_cast<double>(bytes_of(shape.type) * shape.m * shape.n) *
                   (shape.added == Added::nothing ? 1 : 2);
    }
    double flops() const {
        return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n * shape.k);
    }

  private:
    /// Element (row, column) of op(matrix), which is rows x columns.
    static std::size_t at(Transpose transpose, std::int64_t row, std::int64_t column,
                          std::int64_t rows, std::int64_t columns) {
        return static_cast<std::size_t>(transpose == Transpose::yes ? column * rows + row
                                                                    : row * columns + column);
    }

    Shape shape;
    DeviceMatrix d;
    std::optional<DeviceMatrix> a, b, addend;
    DeviceMatrix bias;
};

}  // namespace sluice
