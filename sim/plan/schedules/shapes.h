// Sizes that every schedule asks for, as the doubles that bytes and rates are counted in.
#pragma once

#include "sim/base/units.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

inline double tokens(const TrainingSpec& training) {
    return static_cast<double>(training.tokens());
}
inline double micro_batch_tokens(const TrainingSpec& training) {
    return static_cast<double>(training.micro_batch_block().tokens());
}
/// One token's hidden state in bf16.
inline double hidden_bytes(const ModelSpec& model) {
    return static_cast<double>(model.hidden * kBf16);
}
/// The hidden states of the whole batch: a layer's input.
inline double input_bytes(const ModelSpec& model, const TrainingSpec& training) {
    return tokens(training) * hidden_bytes(model);
}
/// The output projection, and the token embedding, in bf16.
inline double table_bytes(const ModelSpec& model) {
    return static_cast<double>(model.vocabulary) * hidden_bytes(model);
}
/// Final norm, and output projection unless tied.
inline double head_bytes(const ModelSpec& model) {
    return static_cast<double>(head_parameters(model) * kBf16);
}
/// Token embedding, and position embedding where there is one.
inline double embedding_bytes(const ModelSpec& model) {
    return static_cast<double>(embedding_parameters(model) * kBf16);
}
inline double all_parameters(const ModelSpec& model) {
    return static_cast<double>(total_parameters(model));
}
inline double parameters_of_layer(const ModelSpec& model, int layer) {
    return static_cast<double>(layer_parameters(model, model.layer(layer)));
}
inline double largest_layer_bytes(const ModelSpec& model) {
    return static_cast<double>(largest_layer_parameters(model) * kBf16);
}
inline bool host_checkpoints(const TrainingSpec& training) {
    return training.checkpoints == CheckpointPlacement::host;
}

}  // namespace sluice
