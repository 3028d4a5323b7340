// Norms, activations, loss and sums, all memory-bound, by rows and columns.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_rows.h"
#include "sim/base/mixed_bits.h"

namespace sluice {

namespace {

constexpr float kEpsilon = 1e-6F;
constexpr Bytes kSharedBytes = 4 * kMiB;
/// Widest row and most rows of all calls.
constexpr std::int64_t kMostSharedColumns = 524288, kMostTargets = 8192;

/// Small operands that all calls share, at the end of the arena.
struct SharedOperands {
    Vector weight;                          ///< for norms: ones, so that numbers stay of size 1
    Vector dweight;                         ///< also bias gradients
    const std::int32_t* targets = nullptr;  ///< below 1000
    double* sum = nullptr;
};

SharedOperands make_shared_operands(Bench& bench) {
    constexpr std::uint16_t kOne = 0x3F80;  // 1 in bf16
    const std::vector<std::uint16_t> ones(kMostSharedColumns, kOne);
    std::vector<std::int32_t> targets;
    for (std::uint64_t row = 0; row < kMostTargets; ++row)
        targets.push_back(static_cast<std::int32_t>(mixed_bits(row) % 1000));
    const Bytes vector = kMostSharedColumns * bytes_of(DType::bf16);
    char* const place = bench.at(bench.arena_bytes / 4096 * 4096 - kSharedBytes, kSharedBytes);
    bench.device.copy(Work::compute, place, ones.data(), vector);
    bench.device.copy(Work::compute, place + 2 * vector, targets.data(),
                      static_cast<Bytes>(targets.size() * sizeof(std::int32_t)));
    char* const sum = place + 3 * vector;
    bench.device.kernels().fill_zero(sum, sizeof(double));
    bench.device.finish_all();
    return {{place, DType::bf16, kMostSharedColumns},
            {place + vector, DType::bf16, kMostSharedColumns},
            reinterpret_cast<const std::int32_t*>(place + 2 * vector),
            reinterpret_cast<double*>(sum)};
}

struct MemoryBoundCall {
    /// Bytes of one set's operands; those that are changed in place are outputs.
    std::vector<Bytes> inputs, outputs;
    std::function<void(std::int64_t call, const OperandSets& in, const OperandSets& out)> run;
    bool in_place = false;  ///< a call reads the output of the call before it
};

class KernelCalls {
  public:
    KernelCalls(Bench& bench, const SharedOperands& shared, std::int64_t rows, std::int64_t columns,
                std::int64_t head_dim)
        : kernels_(bench.device.kernels()),
          type_(bench.activations),
          rows_(rows),
          columns_(columns),
          heads_(heads_of(rows, columns, head_dim)),
          shared_(shared),
          weight_{shared.weight.data, DType::bf16, columns},
          dweight_{shared.dweight.data, DType::bf16, columns} {}

    MemoryBoundCall rms_norm() const {
        return {{bytes(columns_)}, {bytes(columns_)}, [c = *this](auto call, auto& in, auto& out) {
                    c.kernels_.rms_norm(c.matrix(out.at(call, 0)), c.matrix(in.at(call, 0)),
                                        c.weight_, kEpsilon);
                }};
    }
    MemoryBoundCall rms_norm_backward() const {
        return {{bytes(columns_), bytes(columns_)},
                {bytes(columns_)},
                [c = *this](auto call, auto& in, auto& out) {
                    c.kernels_.rms_norm_backward(c.matrix(out.at(call, 0)), true,
                                                 c.matrix(in.at(call, 0)), c.matrix(in.at(call, 1)),
                                                 c.weight_, kEpsilon, c.dweight_, false);
                },
                true};
    }
    MemoryBoundCall head_norm() const {
        const Vector weight{weight_.data, DType::bf16, heads_.head_dim};
        return {{},
                {bytes(heads_.qkv_width()), bytes(columns_)},
                [c = *this, weight](auto call, auto&, auto& out) {
                    c.kernels_.head_norm(c.heads_, c.matrix(out.at(call, 0), c.heads_.qkv_width()),
                                         weight, weight, kEpsilon, c.matrix(out.at(call, 1)));
                },
                true};
    }
    MemoryBoundCall head_norm_backward() const {
        const Vector weight{weight_.data, DType::bf16, heads_.head_dim};
        const Vector dquery{dweight_.data, DType::bf16, heads_.head_dim};
        const Vector dkey{static_cast<char*>(dweight_.data) + 4096, DType::bf16, heads_.head_dim};
        return {{bytes(columns_)},
                {bytes(heads_.qkv_width())},
                [c = *this, weight, dquery, dkey](auto call, auto& in, auto& out) {
                    c.kernels_.head_norm_backward(
                        c.heads_, c.matrix(out.at(call, 0), c.heads_.qkv_width()),
                        c.matrix(in.at(call, 0)), weight, weight, kEpsilon, dquery, dkey, false);
                },
                true};
    }
    MemoryBoundCall rotary() const {
        return {{},
                {bytes(heads_.qkv_width())},
                [c = *this](auto call, auto&, auto& out) {
                    c.kernels_.rotary(c.heads_, RotaryShape{},
                                      c.matrix(out.at(call, 0), c.heads_.qkv_width()), false);
                },
                true};
    }
    MemoryBoundCall swiglu() const {
        return {
            {bytes(2 * columns_)}, {bytes(columns_)}, [c = *this](auto call, auto& in, auto& out) {
                c.kernels_.swiglu(c.matrix(out.at(call, 0)),
                                  c.matrix(in.at(call, 0), 2 * c.columns_));
            }};
    }
    MemoryBoundCall swiglu_backward() const {
        return {{},
                {bytes(2 * columns_), bytes(columns_)},
                [c = *this](auto call, auto&, auto& out) {
                    c.kernels_.swiglu_backward(c.matrix(out.at(call, 0), 2 * c.columns_),
                                               c.matrix(out.at(call, 1)));
                },
                true};
    }
    MemoryBoundCall bias_backward() const {
        return {{bytes(columns_)}, {}, [c = *this](auto call, auto& in, auto&) {
                    c.kernels_.bias_backward(c.dweight_, c.matrix(in.at(call, 0)), false);
                }};
    }
    MemoryBoundCall cross_entropy() const {
        return {{},
                {bytes(columns_)},
                [c = *this](auto call, auto&, auto& out) {
                    c.kernels_.cross_entropy(c.matrix(out.at(call, 0)), c.shared_.targets, 1,
                                             c.shared_.sum);
                },
                true};
    }
    MemoryBoundCall sum_squares() const {
        return {
            {columns_ * bytes_of(DType::bf16)}, {}, [c = *this](auto call, auto& in, auto&) {
                c.kernels_.sum_squares({in.at(call, 0), DType::bf16, c.columns_}, c.shared_.sum);
            }};
    }
    MemoryBoundCall round_to_bf16() const {
        return {{columns_ * bytes_of(DType::fp32)},
                {columns_ * bytes_of(DType::bf16)},
                [c = *this](auto call, auto& in, auto& out) {
                    c.kernels_.round_to_bf16({out.at(call, 0), DType::bf16, c.columns_},
                                             {in.at(call, 0), DType::fp32, c.columns_});
                }};
    }

  private:
    Bytes bytes(std::int64_t columns) const { return rows_ * columns * bytes_of(type_); }
    Matrix matrix(char* data, std::int64_t columns) const { return {data, type_, rows_, columns}; }
    Matrix matrix(char* data) const { return matrix(data, columns_); }

    Kernels& kernels_;
    DType type_;
    std::int64_t rows_, columns_;
    AttentionShape heads_;
    SharedOperands shared_;
    Vector weight_, dweight_;
};

struct KernelWork {
    MemoryBoundWork work;
    const char* table;
    MemoryBoundCall (KernelCalls::*call)() const;
    const char* method;
};
constexpr std::array kWorks = {
    KernelWork{MemoryBoundWork::rms_norm, "rms_norm", &KernelCalls::rms_norm,
               "rows x columns normed"},
    KernelWork{MemoryBoundWork::rms_norm_backward, "rms_norm_backward",
               &KernelCalls::rms_norm_backward,
               "gradient of the input added to another, that of the weight in bf16"},
    KernelWork{MemoryBoundWork::head_norm, "head_norm", &KernelCalls::head_norm,
               "q and k, columns wide together, normed in place by heads, their old values kept"},
    KernelWork{MemoryBoundWork::head_norm_backward, "head_norm_backward",
               &KernelCalls::head_norm_backward,
               "gradients of q and k, columns wide together, and of the weights in bf16"},
    KernelWork{MemoryBoundWork::rotary, "rotary", &KernelCalls::rotary,
               "q and k, columns wide together, rotated in place"},
    KernelWork{MemoryBoundWork::swiglu, "swiglu", &KernelCalls::swiglu,
               "rows x columns of product from twice as many"},
    KernelWork{MemoryBoundWork::swiglu_and_gradient, "swiglu_and_gradient",
               &KernelCalls::swiglu_backward,
               "gate and up overwritten by their gradients, that of the product by the product; "
               "columns of one of them"},
    KernelWork{MemoryBoundWork::bias_backward, "bias_backward", &KernelCalls::bias_backward,
               "columns summed, bf16 result"},
    KernelWork{MemoryBoundWork::cross_entropy, "cross_entropy", &KernelCalls::cross_entropy,
               "loss of logits, which are overwritten by their gradient"},
    KernelWork{MemoryBoundWork::sum_squares, "sum_squares", &KernelCalls::sum_squares,
               "of one row of bf16"},
    KernelWork{MemoryBoundWork::round_to_bf16, "round_to_bf16", &KernelCalls::round_to_bf16,
               "of one row of fp32"},
};

/// Divides random numbers of deviation 1 by 4, 1024 at a time. SwiGLU's backward multiplies three
/// numbers of its own output: after some calls in place, larger ones overflow.
void quarter(Bench& bench, const Vector& ones, char* values, Bytes bytes) {
    constexpr std::int64_t kColumns = 1024;
    constexpr float kEpsilonForQuarter = 15;  // x / sqrt(1 + 15)
    const Matrix rows{values, bench.activations, bytes / (kColumns * bytes_of(bench.activations)),
                      kColumns};
    if (rows.rows == 0) return;
    const Vector weight{ones.data, DType::bf16, kColumns};
    bench.device.kernels().rms_norm(rows, rows, weight, kEpsilonForQuarter);
}

/// False if the operands do not fit.
bool measure(Bench& bench, const SharedOperands& shared, const KernelWork& work,
             const KernelShape& shape, std::int64_t head_dim, KernelRows& rows) {
    const KernelCalls calls(bench, shared, shape.size[0], shape.size[1], head_dim);
    const MemoryBoundCall call = (calls.*work.call)();
    const OperandSets in(bench, input_zone(bench), call.inputs);
    Zone outputs = output_zone(bench);
    outputs.bytes -= kSharedBytes + 4096;
    const OperandSets out(bench, outputs, call.outputs);
    if (!in.fit() || !out.fit()) return false;
    const auto refresh = [&] {
        bench.device.copy(Work::compute, out.at(0, 0), bench.at(0, out.bytes()), out.bytes());
        quarter(bench, shared.weight, out.at(0, 0), out.bytes());
    };
    rows.measure(
        shape, [&](std::int64_t index) { call.run(index, in, out); },
        call.in_place ? std::function<void()>(refresh) : nullptr);
    return true;
}

}  // namespace

void measure_memory_bound(Bench& bench, CaseRecord& record) {
    const ShapeLimits limits{bench.device_facts.is_gpu, 0, bench.quick};
    const Zone outputs = output_zone(bench);
    fill_arena(bench);
    for (std::size_t i = 0; i < kWorks.size(); ++i) {
        const KernelWork& work = kWorks[i];
        // The previous kernel wrote in place, which leaves less random numbers.
        fill_arena(bench, outputs.begin, outputs.bytes);
        const SharedOperands shared = make_shared_operands(bench);
        KernelRows rows(bench, work.table, {"rows", "columns"},
                        std::string(work.method) +
                            "; groups of calls timed by events, over operands larger than the "
                            "caches");
        const KernelShapes shapes = memory_bound_shapes(work.work, limits);
        for (const KernelShape& shape : shapes) {
            if (!measure(bench, shared, work, shape, head_dim_of(limits), rows))
                rows.leave_out(shape);
        }
        rows.finish(record);
        require_finite(bench, work.table, bench.at(outputs.begin, 4096), DType::fp32, 1024);
        require_finite(bench, work.table, shared.dweight.data, DType::fp32, 1024);
        bench.report(i + 1, kWorks.size());
    }
}

}  // namespace sluice
