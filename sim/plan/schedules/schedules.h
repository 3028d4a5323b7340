// Which schedules are there, and which sizes do all of them use? Each file of this folder makes one
// record; plan_step() and all other users of schedules read these records.
#pragma once

#include "sim/base/units.h"
#include "sim/plan/sizes.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// The schedules, in the order of display; ours is the first. In addition to its file, which
/// defines `ScheduleRecord NAME_schedule()`, a schedule needs its row here.
#define SLUICE_SCHEDULES(row)                                                                    \
    row(streamed) row(megatrain) row(fsdp_offload) row(resident) row(llmq) row(zero3_offload)    \
        row(zero_infinity) row(superoffload) row(accelerate_offload) row(cluster) row(roundpipe) \
            row(slideformer)

#define SLUICE_DECLARE_SCHEDULE(name) ScheduleRecord name##_schedule();
SLUICE_SCHEDULES(SLUICE_DECLARE_SCHEDULE)
#undef SLUICE_DECLARE_SCHEDULE

/// The part of the step time that the model leaves out: 5 to 95% is 1 +- this. Chosen from runs for
/// looking, whose compute was predicted within 3%; with it, 86% of 28 held-out steps were in the
/// band.
inline constexpr double kStructuralError = 0.03;
/// The same for other systems' schedules, which follow their code. In device memory: seven steps
/// (validation/peers-h200*.json) took 0.96 to 1.10 times as long as predicted; 1.645 times the root
/// mean square of the logarithms.
inline constexpr double kErrorOnDevice = 0.10;
/// With host memory: 28 steps took 0.91 to 1.6 times as long. The median absolute value of the
/// logarithms is 0.05, which is 0.67 standard deviations; 1.645 of these, so that one row's error
/// does not decide it.
inline constexpr double kErrorOffloading = 0.12;
/// With several GPUs: three steps of FSDP2 with 7B on two H200 (4, 8 and 16 x 1,024 a GPU: 17,182,
/// 16,744 and 17,964 tokens/s on 2026-11-28) took 1.23, 1.12 and 1.10 times as long as predicted
/// with kernels that were measured; 1.645 times the root mean square of the logarithms.
inline constexpr double kErrorOfSeveralGpus = 0.23;

/// The record's `plan` for a class that is constructed from the three specs and has plan().
template <typename Step>
StepPlan plan_of(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
    return Step(model, machine, training).plan();
}

/// Phases: forward with the loss; backward until all gradients have arrived; the optimizer, which
/// begins with clipping.
std::vector<Phase> plain_phases();

}  // namespace sluice
