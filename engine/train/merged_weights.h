// Which weights are frozen ones with the adapters (LoRA) that a run has trained beside them?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/checkpoint.h"
#include "engine/memory/parameter_store.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// W + scale B A, in fp32, as peft's merge_and_unload() has it.
class MergedWeights {
  public:
    /// `base`: the frozen weights, in place of those that the checkpoint names. Throws InputError
    /// if they are not there or of another model.
    MergedWeights(const std::string& checkpoint, const ModelSpec& model,
                  const std::optional<std::string>& base);

    /// The folder or file of the frozen weights.
    const std::string& base() const { return base_; }
    /// Elements [first, first + out.size()) of a tensor of the model.
    void read(const NamedTensor& tensor, std::int64_t first, std::span<float> out);

  private:
    struct Pair {
        std::string of;
        std::vector<float> a, b;  ///< (rank, columns) and (rows, rank)
    };
    /// Those of the tensor, if it has any; read once for all its parts.
    const Pair* pair_of(const NamedTensor& tensor);

    std::string base_;
    std::int64_t rank_ = 0;
    float scale_ = 0;
    Checkpoint frozen_, adapters_;
    Pair pair_;
};

}  // namespace sluice
