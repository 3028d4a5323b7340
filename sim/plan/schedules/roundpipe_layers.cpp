#include "sim/plan/schedules/roundpipe_layers.h"

#include <algorithm>
#include <utility>

#include "sim/plan/schedules/pytorch.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/model/adapters.h"

namespace sluice {
namespace {

/// The mean micro-batch over the largest one, whose kernels are listed.
double mean_micro_batch(const TrainingSpec& training) {
    return training.sequences_of_a_pass() /
           static_cast<double>(training.shared_micro_batches_of_a_pass() *
                               training.micro_batch_sequences());
}

struct Issuer {
    const GpuSpec& gpu;
    double mean;  ///< mean_micro_batch()
    Seconds time(const KernelList& kernels) const {
        const double launches = static_cast<double>(total_launches(kernels));
        return std::max(mean * kernels_cost(gpu, kernels, kRoundPipeStyle).seconds,
                        kRoundPipeOperations * launches * gpu.eager_launch);
    }
};

RoundPipeLayer layer_of(double parameters, KernelList forward, KernelList backward,
                        const Issuer& issuer) {
    const Seconds once = issuer.time(forward);
    const LayerTimes time{once, once + issuer.time(backward)};
    backward.insert(backward.begin(), forward.begin(), forward.end());
    return {parameters, parameters, std::move(forward), std::move(backward), time};
}

}  // namespace

TokenBlock roundpipe_block(const TrainingSpec& training) {
    TokenBlock block = training.micro_batch_block();
    block.busy_experts = training.own.of<RoundPipeOptions>().busy_experts;
    return block;
}

std::vector<RoundPipeLayer> roundpipe_layers(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& training) {
    const TokenBlock block = roundpipe_block(training);
    const AdapterShape adapters = training.adapters();
    TrainingSpec one = training;
    one.batch = training.micro_batch_sequences();
    const Issuer issuer{machine.gpu, mean_micro_batch(training)};
    std::vector<RoundPipeLayer> layers;
    layers.push_back(layer_of(static_cast<double>(embedding_parameters(model)),
                              {memory_bound("embedding", 2 * input_bytes(model, one))},
                              {embedding_gradient_kernel(model, one)}, issuer));
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        const LayerSpec& kind = model.layer(layer);
        layers.push_back(layer_of(
            parameters_of_layer(model, layer),
            forward_kernels(model, kind, block, kRoundPipeStyle, {}, adapters),
            backward_kernels(model, kind, block, kRoundPipeStyle, false, {}, adapters), issuer));
    }
    layers.push_back(layer_of(static_cast<double>(head_parameters(model)), {},
                              loss_kernels(model, block, kRoundPipeLossTokens, KernelStyle::fused),
                              issuer));
    if (!adapters.present()) return layers;
    for (RoundPipeLayer& layer : layers) layer.trained = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        RoundPipeLayer& own = layers[static_cast<std::size_t>(layer) + 1];
        own.trained = static_cast<double>(adapter_parameters(model, model.layer(layer), adapters));
        own.parameters += own.trained;
    }
    return layers;
}

}  // namespace sluice
