// Products and attention by shape.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_rows.h"
#include "calibrate/cases/kernel_shapes.h"

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

/// A product's matrices, without memory.
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

/// Times one shape; false if it does not fit.
bool measure(Bench& bench, GemmRole role, const KernelShape& shape, KernelRows& rows) {
    Kernels::Product product = product_of(role, shape.size, bench.activations);
    const bool addend = role == GemmRole::forward && shape.size[3] != 0;
    const OperandSets inputs(
        bench, input_zone(bench),
        {matrix_bytes(product.a), matrix_bytes(product.b), matrix_bytes(product.addend)});
    const OperandSets outputs(bench, output_zone(bench), {matrix_bytes(product.d)});
    if (!inputs.fit() || !outputs.fit()) return false;
    Products& products = *bench.device.products();
    rows.measure(shape, [&](std::int64_t call) {
        product.a.data = inputs.at(call, 0);
        product.b.data = inputs.at(call, 1);
        if (addend) product.addend.data = inputs.at(call, 2);
        product.d.data = outputs.at(call, 0);
        products.gemm(product);
    });
    require_finite(bench, "gemm", outputs.at(0, 0), product.d.type,
                   std::min<std::int64_t>(1024, product.d.elements()));
    return true;
}

struct Task {
    std::size_t role;
    KernelShape shape;
};

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
    // Longer products exceed the energy that the power limit allows at the highest clock.
    const std::vector<Task> tasks =
        mixed_tasks(shape_limits(bench, bench.device_facts.is_gpu ? 0.03 : 0.05));
    std::vector<std::unique_ptr<KernelRows>> tables;
    const std::vector<std::string> columns = {"m", "n", "k", "added"};
    for (const Role& role : kRoles)
        tables.push_back(std::make_unique<KernelRows>(bench, role.table, columns, role.method));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const Task& task = tasks[i];
        KernelRows& rows = *tables[task.role];
        if (!measure(bench, kRoles[task.role].role, task.shape, rows)) rows.leave_out(task.shape);
        bench.report(i + 1, tasks.size());
    }
    for (const auto& rows : tables) rows->finish(record);
}

namespace {

AttentionShape attention_shape(const ShapeSize& size) {
    return {size[0], size[1], size[2], size[3], size[4], 0};
}

/// Memory of attention's calls in both directions. Each set of outputs needs its own inputs:
/// backward with the statistics of other scores would overflow.
class Operands {
  public:
    Operands(Bench& bench, const AttentionShape& shape)
        : shape_(shape),
          type_(bench.activations),
          inputs_(bench, input_zone(bench), {bytes(shape.qkv_width()), bytes(shape.query_width())}),
          outputs_(bench, output_zone(bench),
                   {bytes(shape.query_width()),
                    bytes_of(DType::fp32) * shape.heads * shape.tokens(), bytes(shape.qkv_width()),
                    bench.device.kernels().attention_workspace_bytes(shape)}) {}

    bool fit() const { return inputs_.fit() && outputs_.fit(); }
    std::int64_t sets() const { return outputs_.sets(); }

    Matrix qkv(std::int64_t set) const { return matrix(inputs_.at(set, 0), shape_.qkv_width()); }
    Matrix dout(std::int64_t set) const { return matrix(inputs_.at(set, 1), shape_.query_width()); }
    Matrix out(std::int64_t set) const { return matrix(outputs_.at(set, 0), shape_.query_width()); }
    Matrix dqkv(std::int64_t set) const { return matrix(outputs_.at(set, 2), shape_.qkv_width()); }
    float* statistics(std::int64_t set) const {
        return reinterpret_cast<float*>(outputs_.at(set, 1));
    }
    void* workspace(std::int64_t set) const { return outputs_.at(set, 3); }

  private:
    Bytes bytes(std::int64_t width) const { return shape_.tokens() * width * bytes_of(type_); }
    Matrix matrix(char* data, std::int64_t width) const {
        return {data, type_, shape_.tokens(), width};
    }

    AttentionShape shape_;
    DType type_;
    OperandSets inputs_, outputs_;
};

/// Times both directions; false if the operands do not fit.
bool measure(Bench& bench, const KernelShape& shape, KernelRows& forward, KernelRows& backward) {
    const AttentionShape attention = attention_shape(shape.size);
    const Operands at(bench, attention);
    if (!at.fit()) return false;
    Kernels& kernels = bench.device.kernels();
    const auto enqueue_forward = [&](std::int64_t call) {
        const std::int64_t set = call % at.sets();
        kernels.attention(attention, at.qkv(set), at.out(set), at.statistics(set));
    };
    const auto enqueue_backward = [&](std::int64_t call) {
        const std::int64_t set = call % at.sets();
        kernels.attention_backward(attention, at.qkv(set), at.out(set), at.statistics(set),
                                   at.dout(set), at.dqkv(set), at.workspace(set));
    };
    for (std::int64_t set = 0; set < at.sets(); ++set) enqueue_forward(set);
    enqueue_backward(0);
    forward.measure(shape, enqueue_forward);
    backward.measure(shape, enqueue_backward);
    require_finite(bench, "attention", at.out(0).data, at.out(0).type, 1024);
    require_finite(bench, "attention backward", at.dqkv(0).data, at.dqkv(0).type, 1024);
    return true;
}

}  // namespace

void measure_attention(Bench& bench, CaseRecord& record) {
    fill_arena(bench);
    const bool is_gpu = bench.device_facts.is_gpu;
    // Without a GPU attention reaches a quarter of the rate of products: 8 of 35 GFLOP/s on 2
    // cores.
    const KernelShapes shapes = attention_shapes(shape_limits(bench, is_gpu ? 0.1 : 0.008));
    const std::vector<std::string> columns = {"sequences", "sequence", "heads", "kv_heads",
                                              "head_dim"};
    KernelRows forward(bench, "attention_forward", columns,
                       "causal attention with log-sum-exp; groups of calls timed by events on a "
                       "rested device, over operands larger than the caches");
    KernelRows backward(bench, "attention_backward", columns,
                        "gradients of queries, keys and values; as attention_forward");
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (!measure(bench, shapes[i], forward, backward)) {
            forward.leave_out(shapes[i]);
            backward.leave_out(shapes[i]);
        }
        bench.report(i + 1, shapes.size());
    }
    forward.finish(record);
    backward.finish(record);
}

}  // namespace sluice
