// Which plan has one step? The operations of a model, a machine and training settings, and
// which bytes live where and when, which decides whether the step fits. It is simulated and
// executed.
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
    std::string name;
    MemoryKind kind = MemoryKind::workspace;
    Tier tier = Tier::device;
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

/// The most bytes alive on a tier, and their kinds at that moment.
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
Peak peak_memory(const MemoryPlan& plan, Tier tier, OperationId operation_count);

/// The same on the host, loading and saving included.
Peak host_peak(const MemoryPlan& plan, OperationId operation_count);

struct StepPlan {
    StepProgram program;
    MemoryPlan memory;
    std::vector<std::string> assumptions;  ///< of the schedule, in addition to the machine's
    std::string note;                      ///< to be read before any number
};

/// Throws InputError if model, machine and settings are not valid together.
void check_plan_inputs(const ModelSpec& model, const MachineSpec& machine,
                       const TrainingSpec& training);

/// Throws InputError if the training computes in a precision whose rate the machine's GPU lacks.
void check_gpu_products(const MachineSpec& machine, const TrainingSpec& training);

/// Plans a step with the schedule of `training`. Precondition: check_training_spec passed.
StepPlan plan_step(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training);

/// The same without what operations wait for: enough to ask what memory it takes, and sooner.
StepPlan plan_memory(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training);

/// Bytes that device or host offer to a plan: capacity less context or system, or the budget if
/// that is smaller.
Bytes usable_memory(const MachineSpec& machine, const TrainingSpec& training, Tier tier);

/// Whether a plan fits, and how much memory is short.
struct Fit {
    struct OfTier {
        Peak peak;
        Bytes usable = 0;
        Bytes shortfall() const { return peak.bytes > usable ? peak.bytes - usable : 0; }
        /// The largest peak that leaves room.
        double room() const { return 0.99 * static_cast<double>(usable); }
        bool leaves_room() const { return static_cast<double>(peak.bytes) <= room(); }
    };
    OfTier device, host;
    OfTier storage;  ///< usable: the peak itself if the machine's capacity is not known
    bool fits() const {
        return device.shortfall() == 0 && host.shortfall() == 0 && storage.shortfall() == 0;
    }
    /// Fits and leaves a hundredth of device and host free. Steps on an H200 took up to 0.9% more
    /// of the device than their plans (docs/resident-measurements.md), and one that left 0.4% ran
    /// out of memory; of the host they took up to 0.7% more (docs/accuracy.md).
    bool leaves_room() const { return fits() && device.leaves_room() && host.leaves_room(); }
};

/// How carefully are buffers of an arena placed? A search asks whether a plan fits: if it does not
/// without gaps, or does with the first layout, the smallest layout tells it nothing more.
enum class Gaps : std::uint8_t { fewest, until_it_fits };

/// With unified memory both tiers use one pool: `host` then holds the sum.
Fit check_fit(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training,
              Gaps gaps = Gaps::fewest);

}  // namespace sluice
