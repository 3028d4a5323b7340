// Which plan has one step? The operations of a model, a machine and training settings, and
// which bytes live where and when, which decides whether the step fits. It is simulated and
// executed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/step_program.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/machine/topology.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// The purpose of a buffer; reports add up bytes by kind.
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
    gaps,  ///< what alignment and the places of buffers in an arena leave unused
};
inline constexpr int kMemoryKindCount = 10;
const char* memory_kind_name(MemoryKind kind);

inline constexpr OperationId kWholeStep = -1;

/// Bytes alive from the first to the last operation that uses them, in the program's order; or for
/// the whole step.
struct Buffer {
    std::string_view name;  ///< a literal
    MemoryKind kind = MemoryKind::workspace;
    Memory memory;
    Bytes bytes = 0;
    OperationId first = kWholeStep;
    OperationId last = kWholeStep;
    std::int64_t parts = 1;  ///< such as micro-batches, each with tensors that are aligned
    bool pinned = false;     ///< page-locked: the link reads or writes host memory
    /// It lives while operations use it.
    bool comes_and_goes() const { return first != kWholeStep && last >= first; }
};

/// Host memory at a moment outside of a step: loading, saving. Most reports of exhausted memory
/// come from these.
struct HostMoment {
    std::string name;
    Bytes bytes = 0;
    std::string what;        ///< memory in addition to the steady state, in words
    bool is_steady = false;  ///< all steps but the first
};

using BytesByKind = std::array<Bytes, kMemoryKindCount>;

/// The most bytes alive in a memory, and their kinds at that moment.
struct Peak {
    Bytes bytes = 0;
    OperationId operation = 0;  ///< index of the operation in the program
    BytesByKind by_kind{};
};

struct MemoryPlan {
    std::vector<Buffer> buffers;
    std::vector<HostMoment> host_moments;  ///< loading, first step, steady, saving
    Bytes host_between_steps = 0;          ///< resident after a step
    bool in_one_arena = false;  ///< the program lays the device's buffers out before it runs
    Bytes pinned_bytes() const;
};

/// Walks the program once; a buffer's bytes count from its first to its last operation, both
/// included.
Peak peak_memory(const MemoryPlan& plan, Memory memory, OperationId operation_count);

/// The same on the host, loading and saving included.
Peak host_peak(const MemoryPlan& plan, OperationId operation_count);

struct StepPlan {
    StepProgram program;
    MemoryPlan memory;
    std::vector<std::string> assumptions;  ///< of the schedule, in addition to the machine's
    std::string note;                      ///< to be read before any number
};

/// Throws InputError if model and settings are not valid together, on any machine.
void check_model_inputs(const ModelSpec& model, const TrainingSpec& training);
/// Throws InputError if model, machine and settings are not valid together.
void check_plan_inputs(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training);

/// Throws InputError if the training computes in a precision whose rate the machine's GPU lacks.
void check_gpu_products(const MachineSpec& machine, const TrainingSpec& training);

/// The first rule that a training breaks by itself, with the model or on the machine: one of those
/// above.
std::optional<Refusal> refusal_of(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training);

/// Plans a step with the schedule of `training`. Precondition: check_training_spec passed.
StepPlan plan_step(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

/// The same without what operations wait for: enough to ask what memory it takes, and sooner.
StepPlan plan_memory(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training);

/// Bytes that a memory offers to a plan: capacity less context or system, or the budget if that is
/// smaller.
Bytes usable_memory(const MachineSpec& machine, const TrainingSpec& training, Memory memory);

/// Whether a plan fits, and how much memory is short: of all memories that it uses.
struct Fit {
    struct OfMemory {
        Memory memory;
        Peak peak;
        Bytes usable = 0;  ///< the peak itself if the capacity is not known
        Bytes shortfall() const { return peak.bytes > usable ? peak.bytes - usable : 0; }
        /// The largest peak that leaves room.
        double room() const { return 0.99 * static_cast<double>(usable); }
        bool leaves_room() const { return static_cast<double>(peak.bytes) <= room(); }
    };
    std::vector<OfMemory> memories = {
        {Tier::device, {}, 0}, {Tier::host, {}, 0}, {Tier::storage, {}, 0}};

    /// Precondition: the fit has it.
    OfMemory& of(Memory memory);
    const OfMemory& of(Memory memory) const;
    // The first of each tier, which all fits have.
    OfMemory& device() { return of(Tier::device); }
    OfMemory& host() { return of(Tier::host); }
    OfMemory& storage() { return of(Tier::storage); }
    const OfMemory& device() const { return of(Tier::device); }
    const OfMemory& host() const { return of(Tier::host); }
    const OfMemory& storage() const { return of(Tier::storage); }

    Bytes shortfall() const;  ///< of all
    bool fits() const { return shortfall() == 0; }
    /// Fits and leaves a hundredth of devices and host free. Steps on an H200 took up to 0.9% more
    /// of the device than their plans (docs/resident-measurements.md), and one that left 0.4% ran
    /// out of memory; of the host they took up to 0.7% more (docs/accuracy.md).
    bool leaves_room() const;
};

/// How carefully are buffers of an arena placed? A search asks whether a plan fits: if it does not
/// without gaps, or does with the first layout, the smallest layout tells it nothing more. `none`:
/// no layout, which takes three times as long as the plan of a step; less than any layout takes.
enum class Gaps : std::uint8_t { fewest, until_it_fits, none };

/// With unified memory devices are a part of the host, whose peak then holds the sum.
Fit check_fit(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training,
              Gaps gaps = Gaps::fewest);

}  // namespace sluice
