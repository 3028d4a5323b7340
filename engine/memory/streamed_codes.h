// How do layers come by their codes, in a form that is not bf16? The optimizer writes them beside
// the weights, or, of frozen layers, they are written while these are loaded.
#pragma once

#include <functional>
#include <vector>

#include "engine/layers/layer_form.h"
#include "engine/memory/parameter_store.h"
#include "engine/memory/plane_store.h"

namespace sluice {

/// Writes the codes of frozen layers, where these are all that there is of them, on the host or on
/// the device. All arguments must outlive it.
WeightCoder frozen_coder(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes,
                         ThreadPool& pool, Device& device);

/// For each trained layer whose weights arrive as codes a page-locked block in their form.
class StreamedCodes {
  public:
    /// The blocks are in the plan's buffer. All arguments must outlive it.
    StreamedCodes(const ModelSpec& model, const StreamedPlan& plan, const PlaneStore& planes,
                  const ParameterStore& store, ThreadPool& pool);

    bool has(int section) const { return at(section).data != nullptr; }

    /// Calls update(after), which changes the layer's weights and calls `after` as adamw() does,
    /// and brings the codes up to date.
    void rewrite(int layer, const std::function<void(const AfterUpdate& after)>& update);
    /// Writes the codes of all layers whose weights may have been written since the last call.
    void follow_store();

  private:
    struct Layer {
        char* data = nullptr;  ///< null: the layer is resident, or arrives in bf16
        std::size_t kind = 0;
        const LayerForm* form = nullptr;
    };
    /// The sections that are no layers have no codes.
    const Layer& at(int section) const { return layers_[static_cast<std::size_t>(section)]; }

    const ParameterStore& store_;
    ThreadPool& pool_;
    std::vector<LayerLayout> places_, layouts_;  ///< of kinds: in the store, and in blocks
    std::vector<Layer> layers_;                  ///< one a section
    std::int64_t writes_seen_ = -1;
};

}  // namespace sluice
