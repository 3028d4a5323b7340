// How are adapters kept in files of peft (adapter_config.json, adapter_model.safetensors): written,
// and loaded?
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/checkpoint.h"
#include "engine/memory/parameter_store.h"

namespace sluice {

inline constexpr const char* kAdapterConfigFile = "adapter_config.json";
inline constexpr const char* kAdapterStem = "adapter_model";

/// Adapters, as peft names their settings, and the weights beside which they are trained.
struct AdapterRecord {
    AdapterShape shape;
    double alpha = 0;
    bool rank_stabilized = false;  ///< rsLoRA (arXiv 2312.03732)
    std::string base = {};         ///< file or folder; "": random weights of the seed
    /// By what B A x is multiplied.
    double scale() const;
};

/// As peft writes it.
std::string adapter_config_text(const AdapterRecord& adapters);

/// Whether it is a folder of peft's.
bool holds_adapters(const std::string& folder);
/// Its settings. Throws InputError if the file cannot be read, or asks for more than adapters of
/// the linear layers: weights trained beside them, ranks by layer, DoRA.
AdapterRecord read_adapter_config(const std::string& folder);

/// Throws InputError unless the folder holds the tensors of these adapters of the model.
void check_adapters(const std::string& folder, const ModelSpec& model,
                    const AdapterShape& adapters);
/// Fills the adapters of the store from them, F32, F16 or BF16. Throws InputError like
/// check_adapters(), or if a number is not finite.
void load_adapters(const std::string& folder, const ModelSpec& model, const AdapterShape& adapters,
                   ParameterStore& store);

}  // namespace sluice
