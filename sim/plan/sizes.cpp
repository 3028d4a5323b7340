#include "sim/plan/sizes.h"

#include "sim/specs/model/adapters.h"

namespace sluice {
namespace {

// Enough that one layer's gradients arrive while another's are applied, and two more wait, should
// an update take longer than usual. Predicted for qwen2.5-7b on h200-pcie5-16vcpu-128gib: one slab
// takes 13% longer a step at batch 4; from two on, a step takes the same (2, 4 and 8 slabs: 1.42 s
// at batch 4, 2.85 s at batch 32), so that two are spare. A slab of it is 0.5 GB.
constexpr std::int64_t kDefaultHostSlabs = 4;

}  // namespace

double all_adapter_parameters(const ModelSpec& model, const AdapterShape& adapters) {
    double all = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        all += static_cast<double>(adapter_parameters(model, model.layer(layer), adapters));
    return all;
}

double embedding_rows_in_use(const ModelSpec& model, const TrainingSpec& training) {
    return std::min(tokens(training),
                    static_cast<double>(model.vocabulary + model.learned_positions));
}

double rows_updated_first(const ModelSpec& model, const TrainingSpec& training) {
    const double most = embedding_rows_in_use(model, training);
    const bool all = most == static_cast<double>(model.vocabulary + model.learned_positions);
    if (all || training.distinct_tokens == 0) return most;
    return std::min(most, static_cast<double>(training.distinct_tokens));
}

std::int64_t host_gradient_slabs(const TrainingSpec& training) {
    return training.host_gradient_slabs == 0 ? kDefaultHostSlabs : training.host_gradient_slabs;
}

Bytes document_begins_bytes(const TrainingSpec& training) {
    return 4 * (training.tokens() + training.micro_batches());
}

double token_index_bytes(const ModelSpec& model, const TrainingSpec& training) {
    constexpr double kTokens = 2 * 4, kRow = 3 * 4;
    return kTokens * tokens(training) + kRow * embedding_rows_in_use(model, training);
}

}  // namespace sluice
