#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "calibrate/cases/cases.h"
#include "calibrate/cases/kernel_rows.h"
#include "calibrate/cases/mixed_order.h"
#include "calibrate/cases/operand_sets.h"

namespace sluice {
namespace {

struct Role {
    GemmRole role;
    const char* table;
    const char* method;
};
constexpr std::array kRoles = {
    Role{GemmRole::forward, "gemm_forward",
         "y (m, n) = x (m, k) W (n, k)^T, added: plus another (m, n); groups of calls timed by "
         "events on a rested device, over operands larger than the caches"},
    Role{GemmRole::input_gradient, "gemm_input_gradient",
         "dx (m, n) = dy (m, k) W (k, n); as gemm_forward"},
    Role{GemmRole::weight_gradient, "gemm_weight_gradient",
         "dW (m, n) = dy (k, m)^T x (k, n) in bf16, added: into fp32 sums; as gemm_forward"},
};

/// A product's matrices without memory.
Kernels::Product product_of(GemmRole role, const ShapeSize& size, DType activations) {
    const std::int64_t m = size[0], n = size[1], k = size[2];
    const bool added = size[3] != 0;
    const auto matrix = [](DType type, std::int64_t rows, std::int64_t columns) {
        return Matrix(nullptr, type, rows, columns);
    };
    Kernels::Product p;
    switch (role) {
        case GemmRole::forward:
            p.d = matrix(activations, m, n);
            p.a = matrix(activations, m, k);
            p.b = matrix(DType::bf16, n, k);
            p.transpose_b = Transpose::yes;
            if (added) p.addend = p.d;
            break;
        case GemmRole::input_gradient:
            p.d = matrix(activations, m, n);
            p.a = matrix(activations, m, k);
            p.b = matrix(DType::bf16, k, n);
            break;
        case GemmRole::weight_gradient:
            p.d = matrix(added ? DType::fp32 : DType::bf16, m, n);
            p.a = matrix(activations, k, m);
            p.b = matrix(activations, k, n);
            p.transpose_a = Transpose::yes;
            p.accumulate = added;
            break;
    }
    return p;
}

Bytes matrix_bytes(const Matrix& matrix) { return matrix.elements() * bytes_of(matrix.type); }

/// Times one shape; false where it does not fit.
bool measure(Bench& bench, GemmRole role, const KernelShape& shape, KernelRows& rows) {
    Kernels::Product product = product_of(role, shape.size, bench.activations);
    const bool addend = role == GemmRole::forward && shape.size[3] != 0;
    const OperandSets inputs(
        bench, input_zone(bench),
        {matrix_bytes(product.a), matrix_bytes(product.b), matrix_bytes(product.addend)});
    const OperandSets outputs(bench, output_zone(bench), {matrix_bytes(product.d)});
    if (!inputs.fit() || !outputs.fit()) return false;
    Kernels& kernels = bench.device.kernels();
    rows.measure(shape, [&](std::int64_t call) {
        product.a.data = inputs.at(call, 0);
        product.b.data = inputs.at(call, 1);
        if (addend) product.addend.data = inputs.at(call, 2);
        product.d.data = outputs.at(call, 0);
        kernels.gemm(product);
    });
    require_finite(bench, "gemm", outputs.at(0, 0), product.d.type,
                   std::min<std::int64_t>(1024, product.d.elements()));
    return true;
}

struct Task {
    std::size_t role;
    KernelShape shape;
};

/// The products of all roles.
std::vector<Task> mixed_tasks(const ShapeLimits& limits) {
    std::vector<Task> tasks;
    for (std::size_t role = 0; role < kRoles.size(); ++role)
        for (const KernelShape& shape : gemm_shapes(kRoles[role].role, limits))
            tasks.push_back({role, shape});
    return in_mixed_order(std::move(tasks));
}

}  // namespace

void measure_gemm(Bench& bench, CaseRecord& record) {
    fill_arena(bench);
    // Longer products exceed what the power limit leaves at the highest clock.
    const std::vector<Task> tasks =
        mixed_tasks(shape_limits(bench, bench.device_facts.is_gpu ? 0.03 : 0.05));
    std::vector<std::unique_ptr<KernelRows>> tables;
    const std::vector<std::string> columns = {"m", "n", "k", "added"};
    for (const Role& role : kRoles) {
        tables.push_back(std::make_unique<KernelRows>(bench, kernel_timing(bench), role.table,
                                                      columns, role.method));
        tables.back()->tell_held_out();
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const Task& task = tasks[i];
        KernelRows& rows = *tables[task.role];
        if (!measure(bench, kRoles[task.role].role, task.shape, rows)) rows.leave_out(task.shape);
        bench.report(static_cast<double>(i + 1) / static_cast<double>(tasks.size()));
    }
    for (const auto& rows : tables) rows->finish(record);
}

}  // namespace sluice
