// Which parameters does each module of a step use, in the order in which ZeRO-3 meets the modules?
#pragma once

#include <cstdint>
#include <vector>

#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Parameters to fetch, by number: the embedding is the first, the head (unless tied) the last.
/// Tensors of at most stage3_param_persistence_threshold elements stay on the device and have none.
class Zero3Modules {
  public:
    using Parameters = std::vector<int>;

    explicit Zero3Modules(const ModelSpec& model);

    const std::vector<std::int64_t>& elements() const { return elements_; }
    /// How many elements of the model stand before a parameter, in the model's order.
    const std::vector<double>& elements_before() const { return elements_before_; }
    const Parameters& of_layer(int layer) const {
        return of_layer_[static_cast<std::size_t>(layer)];
    }
    int head() const { return head_; }
    /// Modules that are called in a forward of the layer.
    int calls_of(int layer) const;

    /// As recorded: the model, embedding, layers, final norm and head; then backward from the head
    /// on, each layer forward again before its backward.
    std::vector<Parameters> step_calls() const;

  private:
    std::vector<Parameters> layer_calls(int layer) const;

    int layers_;
    int head_ = 0;
    std::vector<Parameters> of_layer_;
    std::vector<std::int64_t> elements_;
    std::vector<double> elements_before_;
};

}  // namespace sluice
