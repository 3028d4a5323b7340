// How do the states of visiting layers come to the device and leave it, and where are they there?
//
//   host_to_device  w9 w8 w7 w6    s4 s5           |    w4 w5 w6 ...
//   compute         ... b8 b7 b6 b5 b4 b3 b2 b1 b0 | u4 u5 u0 ... f0 f1 f2 f3 f4 ...
//   device_to_host     g8 g7 g6                    |  w4 w5   s4     s5
//   optimizer                                 norm |   u6   u7   u8   u9
//
// Their gradients stay on the device until the norm is known. Each is updated in a place that what
// some of the last layers keep for backward has in between: backward has read that when the states
// come, and forward writes it when they have left.
#include <algorithm>
#include <cmath>

#include "sim/plan/schedules/streamed_operations.h"

namespace sluice {

bool is_visiting(const TrainingSpec& training, int layer) {
    const std::int64_t index = layer - training.resident_layers;
    return index >= 0 && index < training.visiting_layers;
}

namespace {

double states_of_largest_layer(const ModelSpec& model, const TrainingSpec& training) {
    return state_bytes(training) / kBf16 * largest_layer_bytes(model);
}

/// Bytes of the layer that keeps the most in a pass.
double most_kept(const ModelSpec& model, const TrainingSpec& training) {
    double most = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        most = std::max(most, kept_bytes(model, training, layer).all());
    return most * tokens(training) / static_cast<double>(training.passes);
}

bool keeps_on_device(const ModelSpec& model, const TrainingSpec& training, std::int64_t layer) {
    return layer >= 0 && keeps_everything(model, training, static_cast<int>(layer)) &&
           !keeps_on_host(model, training, static_cast<int>(layer));
}

}  // namespace

VisitPlaces visit_places(const ModelSpec& model, const TrainingSpec& training) {
    VisitPlaces out;
    out.model_layers = model.layer_count();
    if (training.visiting_layers == 0) return out;
    const double kept = most_kept(model, training);
    const double states = states_of_largest_layer(model, training);
    if (kept > 0) out.layers = static_cast<std::int64_t>(std::ceil(states / kept));
    out.bytes = std::max(states, static_cast<double>(out.layers) * kept);
    for (std::int64_t visit = 0; visit < training.visiting_layers; ++visit) {
        const std::int64_t first =
            model.layer_count() - out.layers * (training.visiting_layers - visit);
        bool all_kept = out.layers > 0;
        for (std::int64_t layer = first; all_kept && layer < first + out.layers; ++layer)
            all_kept = keeps_on_device(model, training, layer);
        out.first_kept.push_back(all_kept ? std::optional(first) : std::nullopt);
    }
    return out;
}

std::optional<KeptPlace> kept_beside_visit(const VisitPlaces& places, int layer) {
    if (places.layers == 0) return std::nullopt;
    const std::int64_t from_end = places.model_layers - 1 - layer;
    const std::int64_t visit =
        static_cast<std::int64_t>(places.first_kept.size()) - 1 - from_end / places.layers;
    if (visit < 0 || !places.first_kept[static_cast<std::size_t>(visit)]) return std::nullopt;
    return KeptPlace{visit, places.layers - 1 - from_end % places.layers, places.layers};
}

std::vector<BufferId> declare_held_gradients(const ModelSpec& model, const TrainingSpec& training,
                                             PlanBuilder& build) {
    std::vector<BufferId> out;
    if (!training.updates_after_norm()) return out;
    for (int layer = 0; layer < training.resident_layers + training.visiting_layers; ++layer)
        out.push_back(build.device_buffer("gradients held for clipping", MemoryKind::gradients,
                                          kBf16 * parameters_of_layer(model, layer)));
    return out;
}

std::vector<BufferId> declare_visits(const ModelSpec& model, const TrainingSpec& training,
                                     const VisitPlaces& places, PlanBuilder& build) {
    std::vector<BufferId> out;
    const double states = states_of_largest_layer(model, training);
    for (const std::optional<std::int64_t>& first : places.first_kept)
        out.push_back(
            first ? build.on_device("kept for backward, in turn with visiting states",
                                    MemoryKind::activations, places.bytes,
                                    places.layers * training.micro_batches_of_a_pass())
                  : build.on_device("visiting states", MemoryKind::optimizer_state, states));
    return out;
}

/// Those that come once backward of `after` is in the program: when the weights of all layers on
/// the host have come again, and the place is free.
void Streamed::states_in(int after) {
    for (int layer = resident_; layer < resident_ + visiting_; ++layer) {
        const auto first = first_kept_beside(layer);
        if (std::min<std::int64_t>(resident_, first.value_or(layers_)) != after) continue;
        const OperationId place_is_free =
            first ? state(static_cast<int>(*first)).last_backward : -1;
        state(layer).states_in =
            build_.add(OperationKind::copy_states_in, layer, {{place_is_free}},
                       copy_operation(state_bytes(t_) * parameters(layer), {visit(layer)}));
    }
}

/// Weights of all leave first, since the next forward needs them; what follows in the same lane
/// has nothing more to wait for.
void Streamed::states_out() {
    const auto out = [&](OperationKind kind, int layer, double bytes, OperationId after) {
        return build_.add(kind, layer, {{after}},
                          copy_operation(bytes * parameters(layer), {visit(layer)}));
    };
    for (int layer = resident_; layer < resident_ + visiting_; ++layer)
        state(layer).weights_out =
            out(OperationKind::copy_weights_out, layer, kBf16, state(layer).update);
    for (int layer = resident_; layer < resident_ + visiting_; ++layer) {
        const OperationId left =
            out(OperationKind::copy_states_out, layer, state_bytes(t_) - kBf16, -1);
        build_.wait(state(layer).states_in, {left, true});
        if (const auto first = first_kept_beside(layer))
            build_.wait(state(static_cast<int>(*first)).first_forward, {left, true});
    }
}

}  // namespace sluice
