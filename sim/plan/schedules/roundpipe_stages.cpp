#include "sim/plan/schedules/roundpipe_stages.h"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

constexpr double kLongestOverLayer = 1.1;  // upper_threshold

using Times = std::vector<Seconds>;

/// Sums of neighbours that may be a stage's time.
void add_candidates(const Times& times, Seconds longest_layer, Times& out) {
    for (std::size_t start = 0; start < times.size(); ++start) {
        Seconds sum = 0;
        for (std::size_t end = start; end < times.size(); ++end) {
            sum += times[end];
            if (sum > longest_layer * kLongestOverLayer) break;
            if (sum >= longest_layer) out.push_back(sum);
        }
    }
}

/// The layers 0 to `end` - 1 in stages of at most `longest`, filled from the last layer on.
std::vector<Stage> filled_from_end(const Times& times, int end, Seconds longest) {
    std::vector<Stage> stages;
    Seconds sum = std::numeric_limits<double>::infinity();
    for (int layer = end - 1; layer >= 0; --layer) {
        const Seconds own = times[static_cast<std::size_t>(layer)];
        if (sum + own > longest) {
            stages.push_back({layer, layer + 1});
            sum = 0;
        }
        stages.back().begin = layer;
        sum += own;
    }
    std::reverse(stages.begin(), stages.end());
    return stages;
}

/// The same, filled from the first layer on; the last stage comes first.
std::vector<Stage> filled_from_begin(const Times& times, int end, Seconds longest) {
    std::vector<Stage> stages;
    Seconds sum = std::numeric_limits<double>::infinity();
    for (int layer = 0; layer < end; ++layer) {
        const Seconds own = times[static_cast<std::size_t>(layer)];
        if (sum + own > longest) {
            stages.push_back({layer, layer});
            sum = 0;
        }
        stages.back().end = layer + 1;
        sum += own;
    }
    std::reverse(stages.begin(), stages.end());
    return stages;
}

RoundPipeStages stages_of(const Times& forward, const Times& backward, Seconds longest) {
    const int layers = static_cast<int>(backward.size());
    int end = layers;  // the layers from here on run forward and backward together
    for (Seconds sum = 0; end > 0; --end) {
        sum += backward[static_cast<std::size_t>(end - 1)];
        if (sum > longest) break;
    }
    RoundPipeStages out;
    out.longest = longest;
    out.forward = filled_from_end(forward, end, longest);
    out.backward = filled_from_begin(backward, end, longest);
    out.backward.insert(out.backward.begin(), Stage{end, layers});
    return out;
}

}  // namespace

double pipeline_pace(const PipelineStep& step) {
    std::vector<Seconds> gpu_free(static_cast<std::size_t>(step.gpus), 0);
    std::vector<Seconds> computed;  // of each micro-batch, by the stage before
    std::size_t turn = 0;
    const auto run = [&] {
        computed.assign(static_cast<std::size_t>(step.micro_batches), 0);
        for (const Seconds stage : step.stages) {
            Seconds& free = gpu_free[turn++ % gpu_free.size()];
            for (Seconds& micro_batch : computed)
                free = micro_batch = std::max(free, micro_batch) + stage;
        }
        return *std::max_element(gpu_free.begin(), gpu_free.end());
    };
    Seconds work = 0;
    for (const Seconds stage : step.stages) work += stage;
    work *= static_cast<double>(step.micro_batches) / static_cast<double>(step.gpus);
    const Seconds first = run();
    if (step.drains) return first / work;
    constexpr int kMoreSteps = 16;  // the turns of a step need not be a multiple of the GPUs
    Seconds last = first;
    for (int i = 0; i < kMoreSteps; ++i) last = run();
    return std::max(1.0, (last - first) / kMoreSteps / work);
}

RoundPipeStages roundpipe_stages(const std::vector<LayerTimes>& layers, int gpus) {
    Times forward, backward, candidates;
    for (const LayerTimes& layer : layers) {
        forward.push_back(layer.forward);
        backward.push_back(layer.backward);
    }
    const Seconds longest_layer = std::max(*std::max_element(forward.begin(), forward.end()),
                                           *std::max_element(backward.begin(), backward.end()));
    add_candidates(forward, longest_layer, candidates);
    add_candidates(backward, longest_layer, candidates);
    std::sort(candidates.begin(), candidates.end());
    RoundPipeStages best;
    Seconds least = std::numeric_limits<double>::infinity();
    for (const Seconds longest : candidates) {
        RoundPipeStages stages = stages_of(forward, backward, longest);
        const std::size_t turns = std::max(stages.forward.size() + stages.backward.size(),
                                           static_cast<std::size_t>(gpus));
        const Seconds cost = static_cast<double>(turns) * longest;
        if (cost >= least) continue;
        least = cost;
        best = std::move(stages);
    }
    return best;
}

}  // namespace sluice
