#include "sim/plan/schedules/layer_homes.h"

#include "sim/plan/schedules/streamed.h"

namespace sluice {

std::vector<LayerHome> layer_homes(const ModelSpec& model, const TrainingSpec& training) {
    using Keeps = LayerHome::Keeps;
    std::vector<LayerHome> out;
    if (!has_option(training.schedule, "resident_layers")) return out;
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        Keeps keeps = Keeps::nothing;
        if (keeps_everything(model, training, layer))
            keeps = keeps_on_host(model, training, layer) ? Keeps::all_on_host : Keeps::all;
        else if (recompute_of(model, training, layer) == Recompute::keep_attention)
            keeps = Keeps::attention;
        out.push_back(
            {layer < training.resident_layers, is_deferred(model, training, layer), keeps});
    }
    return out;
}

}  // namespace sluice
