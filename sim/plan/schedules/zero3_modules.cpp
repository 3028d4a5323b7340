#include "sim/plan/schedules/zero3_modules.h"

#include <algorithm>

#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/zero3_fetches.h"

namespace sluice {
namespace {

// Modules of a plain layer that hold no parameter to fetch: the layer and its norms. (Transformers'
// models have four more: attention, feed-forward and its activation, rotary embedding.)
constexpr int kEmptyModules = 3;

}  // namespace

Zero3Modules::Zero3Modules(const ModelSpec& model) : layers_(model.layer_count()) {
    double passed = 0;
    const auto number = [&](std::int64_t elements) {
        elements_.push_back(elements);
        elements_before_.push_back(passed);
        return static_cast<int>(elements_.size()) - 1;
    };
    number(embedding_parameters(model));
    passed += static_cast<double>(elements_.back());
    for (int layer = 0; layer < layers_; ++layer) {
        Parameters& own = of_layer_.emplace_back();
        for (const std::int64_t tensor : module_tensors(model, model.layer(layer))) {
            if (tensor > FetchLimits{}.persistence_threshold) own.push_back(number(tensor));
            passed += static_cast<double>(tensor);
        }
    }
    if (!model.tied_embeddings) head_ = number(model.vocabulary * model.hidden);
}

int Zero3Modules::calls_of(int layer) const {
    return kEmptyModules + static_cast<int>(of_layer(layer).size());
}

std::vector<Zero3Modules::Parameters> Zero3Modules::layer_calls(int layer) const {
    std::vector<Parameters> calls(kEmptyModules);
    for (const int parameter : of_layer(layer)) calls.push_back({parameter});
    return calls;
}

std::vector<Zero3Modules::Parameters> Zero3Modules::step_calls() const {
    std::vector<Parameters> calls = {{}, {0}};
    const auto append = [&calls](const std::vector<Parameters>& more) {
        calls.insert(calls.end(), more.begin(), more.end());
    };
    for (int layer = 0; layer < layers_; ++layer) append(layer_calls(layer));
    append({{}, {head_}});
    append({{}, {head_}, {}});
    for (int layer = layers_ - 1; layer >= 0; --layer) {
        std::vector<Parameters> own = layer_calls(layer);
        append(own);
        std::reverse(own.begin(), own.end());
        append(own);
    }
    append({{0}});
    return calls;
}

}  // namespace sluice
