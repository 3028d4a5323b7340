// How are the sections updated that are resident, or visit the device?
#pragma once

#include "engine/run/step_buffers.h"

namespace sluice {

class ResidentSections {
  public:
    /// All arguments must outlive it.
    ResidentSections(const ModelSpec& model, const ParameterStore& store, Device& device,
                     const StepBuffers& buffers)
        : model_(model), store_(store), device_(device), buffers_(buffers) {}

    /// Whether a section of ParameterStore is resident.
    bool has(int section) const { return store_.on_device(section); }
    /// To be called before the first products of a step that write the layer's gradient.
    void begin_gradients(int layer);
    /// On the compute lane, from the section's gradient; does nothing if loss or norm are not
    /// finite.
    void update(int section, UpdatePass pass, const AdamWStep& step);

  private:
    /// On the device.
    GradientRange gradient(int section) const;

    const ModelSpec& model_;
    const ParameterStore& store_;
    Device& device_;
    const StepBuffers& buffers_;
};

}  // namespace sluice
