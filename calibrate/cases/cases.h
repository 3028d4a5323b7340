// The cases, one file each: <name>_case.cpp.
#pragma once

#include "calibrate/cases/bench.h"

namespace sluice {

void measure_copies(Bench& bench, CaseRecord& record);
void measure_host_memory(Bench& bench, CaseRecord& record);
void measure_adam(Bench& bench, CaseRecord& record);
void measure_mixed_load(Bench& bench, CaseRecord& record);
void measure_numa(Bench& bench, CaseRecord& record);
void measure_storage(Bench& bench, CaseRecord& record);
void measure_launch(Bench& bench, CaseRecord& record);
void measure_device_copy(Bench& bench, CaseRecord& record);
void measure_gemm(Bench& bench, CaseRecord& record);
void measure_attention(Bench& bench, CaseRecord& record);
void measure_memory_bound(Bench& bench, CaseRecord& record);
void measure_clock(Bench& bench, CaseRecord& record);
void measure_power(Bench& bench, CaseRecord& record);
void measure_gpu_interconnect(Bench& bench, CaseRecord& record);

}  // namespace sluice
