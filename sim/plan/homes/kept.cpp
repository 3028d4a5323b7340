// The last layers, or all, keep on the device everything that their backward reads.
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/nearest_fit.h"

namespace sluice {
namespace {

void place_kept(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const bool all = t.recompute == Recompute::none;
    const std::int64_t first = all ? 0 : model.layer_count() - t.keep_last_layers;
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        // A number of gate and up takes so many bits wherever it is kept.
        Home& kept = p.home(layer, Plane::kept_feed_forward);
        if (t.kept_bits == 8) kept.form = Form::codes_8_bit;
        if (layer >= first)
            kept.memory = p.home(layer, Plane::kept_attention).memory = Tier::device;
    }
}

/// The most that fit; each takes the same memory.
std::vector<double> most_that_fit(const Asked& asked) {
    TrainingSpec training = asked.training;
    std::int64_t low = 0, high = asked.model.layer_count() + 1;
    while (high - low > 1) {
        training.keep_last_layers = (low + high) / 2;
        (fits_machine(asked.model, asked.machine, training) ? low : high) =
            training.keep_last_layers;
    }
    if (low == 0) return {};
    return {static_cast<double>(low)};
}

}  // namespace

HomeKind kept_homes() {
    return {.place = place_kept,
            .options = {layers_option<&TrainingSpec::keep_last_layers>(
                            "kept_bits", "keep_last_layers", "last layers that recompute nothing")
                            .varied_over({0, 4, 8, 16, 32})},
            .layers = &TrainingSpec::keep_last_layers,
            .moves = {{"keep_last_layers", "resident_layers",
                       [](const Asked&) { return std::vector{0.0}; }},
                      {"keep_last_layers", "micro_batch", most_that_fit, Effect::takes_memory}}};
}

}  // namespace sluice
