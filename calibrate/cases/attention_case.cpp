#include <string>
#include <vector>

#include "calibrate/cases/cases.h"
#include "calibrate/cases/kernel_rows.h"
#include "calibrate/cases/operand_sets.h"

namespace sluice {
namespace {

AttentionShape attention_shape(const ShapeSize& size) {
    return {size[0], size[1], size[2], size[3], size[4], 0};
}

/// Memory of attention's calls in both directions. A set of inputs belongs to one of outputs:
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

/// Times both directions; false where the operands do not fit.
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
    const Timing timing = kernel_timing(bench);
    KernelRows forward(bench, timing, "attention_forward", columns,
                       "causal attention with log-sum-exp; groups of calls timed by events on a "
                       "rested device, over operands larger than the caches");
    KernelRows backward(bench, timing, "attention_backward", columns,
                        "gradients of queries, keys and values; as attention_forward");
    forward.tell_held_out();
    backward.tell_held_out();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        if (!measure(bench, shapes[i], forward, backward)) {
            forward.leave_out(shapes[i]);
            backward.leave_out(shapes[i]);
        }
        bench.report(static_cast<double>(i + 1) / static_cast<double>(shapes.size()));
    }
    forward.finish(record);
    backward.finish(record);
}

}  // namespace sluice
