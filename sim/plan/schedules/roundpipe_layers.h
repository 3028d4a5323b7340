// Which layers does RoundPipe divide into stages: parameters, kernels and times of one
// micro-batch?
#pragma once

#include <vector>

#include "sim/plan/schedules/roundpipe_stages.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// transformers' modules, with RoundPipe's own loop over experts.
inline constexpr KernelStyle kRoundPipeStyle = KernelStyle::modules;
/// Host time of a kernel of transformers' model, in units of an eager operation, as in MegaTrain.
inline constexpr double kRoundPipeOperations = 6.9;
inline constexpr std::int64_t kRoundPipeLossTokens = 4096;  // TOKEN_CHUNK_SIZE

/// When a step uses its update: one step later, during which the CPU computes it, or at once.
enum class Update : std::uint8_t { delayed, immediate };
/// Options of roundpipe alone.
struct RoundPipeOptions {
    Update update = Update::delayed;
    std::int64_t busy_experts = 0;  ///< of a layer, that tokens reach; 0: all
};
/// The tokens that pass a layer together.
TokenBlock roundpipe_block(const TrainingSpec& training);

struct RoundPipeLayer {
    double parameters = 0;
    double trained = 0;  ///< of them; with adapters, these alone
    KernelList forward;
    KernelList backward;  ///< with the recomputation before it
    LayerTimes time;
};

/// The embedding, each layer, and the norm with head and loss.
std::vector<RoundPipeLayer> roundpipe_layers(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& training);

}  // namespace sluice
