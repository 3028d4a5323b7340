#include <array>
#include <string>
#include <vector>

#include "calibrate/cases/cases.h"
#include "calibrate/cases/kernel_rows.h"
#include "calibrate/cases/memory_bound_calls.h"

namespace sluice {
namespace {

struct Work {
    MemoryBoundWork work;
    const char* table;
    const char* method;
};
constexpr std::array kWorks = {
    Work{MemoryBoundWork::rms_norm, "rms_norm", "rows x columns normed"},
    Work{MemoryBoundWork::rms_norm_backward, "rms_norm_backward",
         "gradient of the input added to another, that of the weight in bf16"},
    Work{MemoryBoundWork::head_norm, "head_norm",
         "q and k, columns wide together, normed in place by heads, their old values kept"},
    Work{MemoryBoundWork::head_norm_backward, "head_norm_backward",
         "gradients of q and k, columns wide together, and of the weights in bf16"},
    Work{MemoryBoundWork::rotary, "rotary", "q and k, columns wide together, rotated in place"},
    Work{MemoryBoundWork::swiglu, "swiglu", "rows x columns of product from twice as many"},
    Work{MemoryBoundWork::swiglu_backward, "swiglu_backward",
         "gate and up overwritten by their gradients; columns of one of them"},
    Work{MemoryBoundWork::bias_backward, "bias_backward", "columns summed, bf16 result"},
    Work{MemoryBoundWork::cross_entropy, "cross_entropy",
         "loss of logits, which are overwritten by their gradient"},
    Work{MemoryBoundWork::sum_squares, "sum_squares", "of one row of bf16"},
    Work{MemoryBoundWork::round_to_bf16, "round_to_bf16", "of one row of fp32"},
};

/// False where the operands do not fit.
bool measure(Bench& bench, const SharedOperands& shared, const Work& work, const KernelShape& shape,
             std::int64_t head_dim, KernelRows& rows) {
    const MemoryBoundCall call =
        memory_bound_call(bench, shared, work.work, shape.size[0], shape.size[1], head_dim);
    const OperandSets in(bench, input_zone(bench), call.inputs);
    const OperandSets out(bench, zone_of_outputs(bench), call.outputs);
    if (!in.fit() || !out.fit()) return false;
    const auto refresh = [&] {
        bench.device.copy(Lane::compute, out.at(0, 0), bench.at(0, out.bytes()), out.bytes());
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
        const Work& work = kWorks[i];
        // What the kernel before wrote in place is less random.
        fill_arena(bench, outputs.begin, outputs.bytes);
        const SharedOperands shared = make_shared_operands(bench);
        KernelRows rows(bench, kernel_timing(bench), work.table, {"rows", "columns"},
                        std::string(work.method) +
                            "; groups of calls timed by events, over operands larger than the "
                            "caches");
        rows.tell_held_out();
        const KernelShapes shapes = memory_bound_shapes(work.work, limits);
        for (const KernelShape& shape : shapes) {
            if (!measure(bench, shared, work, shape, head_dim_of(limits), rows))
                rows.leave_out(shape);
        }
        rows.finish(record);
        require_finite(bench, work.table, bench.at(outputs.begin, 4096), DType::fp32, 1024);
        require_finite(bench, work.table, shared.dweight.data, DType::fp32, 1024);
        bench.report(static_cast<double>(i + 1) / kWorks.size());
    }
}

}  // namespace sluice
