// The plan of one step: from model, machine and training settings to operations, and to which bytes
// live where, and when, which decides whether the step fits. Simulated and executed.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/plan/step_program.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

enum class Tier : std::uint8_t { device, host, storage };

/// What a buffer is for; reports add up bytes by kind.
enum class MemoryKind : std::uint8_t {
    weights,
    gradients,
    checkpoints,
    activations,
    loss,
    workspace,
    optimizer_state,
    pinned_buffers,
    process,
};
inline constexpr int kMemoryKindCount = 9;
const char* memory_kind_name(MemoryKind kind);

inline constexpr OperationId kWholeStep = -1;

/// Bytes alive from the first to the last operation that uses them, in the program's order; or for
/// the whole step.
struct Buffer {
    std::string name;
    MemoryKind kind = MemoryKind::workspace;
    Tier tier = Tier::device;
    Bytes bytes = 0;
    OperationId first = kWholeStep;
    OperationId last = kWholeStep;
};

/// Host memory of a moment that is not a step: loading, saving. Most out-of-memory reports come
/// from these.
struct HostMoment {
    std::string name;
    Bytes bytes = 0;
    std::string what;  ///< what is there beyond the steady state, in words
};

using BytesByKind = std::array<Bytes, kMemoryKindCount>;

/// Most bytes alive at once on a tier, and what they are at that moment.
struct Peak {
    Bytes bytes = 0;
    OperationId operation = 0;  ///< where in the program
    BytesByKind by_kind{};
};

struct MemoryPlan {
    std::vector<Buffer> buffers;
    std::vector<HostMoment> host_moments;  ///< loading, first step, steady, saving
    Bytes host_between_steps = 0;          ///< resident when a step has ended
};

/// Walks the program once; a buffer's bytes count from its first to its last operation, ends
/// included.
Peak peak_memory(const MemoryPlan& plan, Tier tier, OperationId operation_count);

struct StepPlan {
    StepProgram program;
    MemoryPlan memory;
    std::vector<std::string> assumptions;  ///< of the schedule, beside those of the machine
    std::string note;                      ///< what must be known before any number
};

/// Throws InputError where model, machine and settings do not go together.
void check_plan_inputs(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training);

/// Plans a step with the schedule of `training`. Precondition: check_training_spec passed.
StepPlan plan_step(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

/// Bytes that device or host offer a plan: capacity less context or system, or the budget where
/// that is smaller.
Bytes usable_memory(const MachineSpec& machine, const TrainingSpec& training, Tier tier);

/// Whether a plan fits, and by how much it does not.
struct Fit {
    struct OfTier {
        Peak peak;
        Bytes usable = 0;
        Bytes shortfall() const { return peak.bytes > usable ? peak.bytes - usable : 0; }
    };
    OfTier device, host;
    OfTier storage;  ///< usable: the peak itself where the machine's capacity is not known
    bool fits() const {
        return device.shortfall() == 0 && host.shortfall() == 0 && storage.shortfall() == 0;
    }
};

/// On a machine with unified memory both tiers draw on one pool: `host` then holds the sum.
Fit check_fit(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training);

}  // namespace sluice
