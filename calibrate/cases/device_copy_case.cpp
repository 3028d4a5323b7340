#include <algorithm>

#include "calibrate/cases/cases.h"
#include "calibrate/cases/kernel_rows.h"
#include "calibrate/cases/operand_sets.h"

namespace sluice {

void measure_device_copy(Bench& bench, CaseRecord& record) {
    fill_arena(bench);
    KernelRows rows(bench, kernel_timing(bench), "device_copy", {"bytes"},
                    "copies within device memory, each byte read and written once; groups timed by "
                    "events, over memory larger than the caches");
    constexpr Bytes kLeast = 4096, kMost = Bytes{2} << 30;
    const Bytes most = std::min(kMost, output_zone(bench).bytes);
    const Bytes step = bench.quick ? 8 : 4;
    int count = 1, done = 0;
    for (Bytes bytes = kLeast; bytes <= most / step; bytes *= step) ++count;
    for (Bytes bytes = kLeast; done < count; bytes *= step) {
        const OperandSets from(bench, input_zone(bench), {bytes});
        const OperandSets to(bench, output_zone(bench), {bytes});
        rows.measure({{bytes}, false}, [&](std::int64_t call) {
            bench.device.copy(Lane::compute, to.at(call, 0), from.at(call, 0), bytes);
        });
        bench.report(static_cast<double>(++done) / count);
    }
    require_finite(bench, "device copy", bench.at(output_zone(bench).begin, 4096), DType::fp32,
                   1024);
    rows.finish(record);
}

}  // namespace sluice
