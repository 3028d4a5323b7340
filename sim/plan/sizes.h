// How many tokens, parameters and bytes have the parts of a step?
#pragma once

#include "sim/base/units.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/state_precision.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

// Sizes as doubles, like bytes and rates.

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
/// Token embedding, and position embedding if there is one.
inline double embedding_bytes(const ModelSpec& model) {
    return static_cast<double>(embedding_parameters(model) * kBf16);
}
inline double all_parameters(const ModelSpec& model) {
    return static_cast<double>(total_parameters(model));
}
inline double parameters_of_layer(const ModelSpec& model, int layer) {
    return static_cast<double>(layer_parameters(model, model.layer(layer)));
}
/// The adapters of all layers.
double all_adapter_parameters(const ModelSpec& model, const AdapterShape& adapters);
inline double largest_layer_bytes(const ModelSpec& model) {
    return static_cast<double>(largest_layer_parameters(model) * kBf16);
}
/// Master and moments of a parameter; both 8-bit moments have an fp32 scale for every 128.
inline double state_bytes(const TrainingSpec& training) {
    return state_precision(training.state_bytes).bytes_with_scales();
}
/// Pinned layer gradients on the host that wait for the optimizer in turn (ours).
std::int64_t host_gradient_slabs(const TrainingSpec& training);
/// The token index of a batch on the device: each token's row, the tokens in the order of their
/// rows, and for each row in use which tokens are its (see engine/kernels/token_rows.h).
double token_index_bytes(const ModelSpec& model, const TrainingSpec& training);
/// First tokens of the documents of each micro-batch and its end, int32, if each token is one.
Bytes document_begins_bytes(const TrainingSpec& training);
/// Rows of the embedding that a batch can touch at most.
double embedding_rows_in_use(const ModelSpec& model, const TrainingSpec& training);
/// Rows that stand between two steps: those of the next batch's different tokens. All where a batch
/// may touch all.
double rows_updated_first(const ModelSpec& model, const TrainingSpec& training);
inline bool host_checkpoints(const TrainingSpec& training) {
    return training.checkpoints == CheckpointPlacement::host;
}
/// The index of a layer's kind in ModelSpec::kinds.
inline std::size_t kind_of(const ModelSpec& model, int layer) {
    return static_cast<std::size_t>(model.layers[static_cast<std::size_t>(layer)]);
}

}  // namespace sluice
