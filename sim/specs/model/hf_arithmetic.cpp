#include "sim/specs/model/hf_arithmetic.h"

namespace sluice {
namespace {

double number_or(const JsonObject& object, const char* key, double fallback, double low,
                 double high) {
    return object.has(key) ? object.number(key, low, high) : fallback;
}

void read_scaling(const JsonObject& scaling, ModelSpec& model) {
    const std::string type = scaling.text_or("rope_type", scaling.text_or("type", "default"));
    if (type == "default") return;
    if (type != "llama3") {
        model.not_trained = type + " scaling of positions";
        return;
    }
    RotarySpec& rotary = model.rotary;
    rotary.factor = scaling.number("factor", 1, 1e6);
    rotary.low_frequency_factor = number_or(scaling, "low_freq_factor", 1, 1e-6, 1e6);
    rotary.high_frequency_factor = number_or(scaling, "high_freq_factor", 4, 1e-6, 1e6);
    rotary.original_positions =
        number_or(scaling, "original_max_position_embeddings", 8192, 1, 1e9);
}

}  // namespace

void read_hf_arithmetic(const JsonObject& config, ModelSpec& model) {
    model.norm_epsilon = number_or(config, "rms_norm_eps", 1e-6, 1e-12, 1);
    model.rotary.theta = number_or(config, "rope_theta", 10'000, 1, 1e12);
    const std::string activation =
        config.is_text("hidden_act") ? config.text("hidden_act") : "silu";
    if (activation != "silu" && activation != "swish")
        model.not_trained = activation + " as activation";
    if (number_or(config, "partial_rotary_factor", 1, 0, 1) != 1)
        model.not_trained = "positions in a part of each head";
    // transformers 5 writes theta and scaling into one object.
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
        if (!config.is_object(key)) continue;
        const JsonObject rotary = config.object(key);
        model.rotary.theta = number_or(rotary, "rope_theta", model.rotary.theta, 1, 1e12);
        read_scaling(rotary, model);
    }
}

}  // namespace sluice
