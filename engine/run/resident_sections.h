// How do the resident sections get to the device and back, and how are they updated?
#pragma once

#include "engine/run/step_buffers.h"

namespace sluice {

class ResidentSections {
  public:
    /// All arguments must outlive it.
    ResidentSections(const ModelSpec& model, const HostModel& host, Device& device,
                     const DeviceBuffers& buffers)
        : model_(model), host_(host), device_(device), buffers_(buffers) {}

    /// A section of HostModel.
    bool has(int section) const { return buffers_.resident(section).count > 0; }
    /// Copies all parameters and states from the host model (host_to_device) or to it
    /// (device_to_host). Returns when they have arrived.
    void copy(Lane lane);
    /// To be called before the first products of a step that write the layer's gradient.
    void begin_gradients(int layer);
    /// On the compute lane, from the section's gradient; does nothing if loss or norm are not
    /// finite.
    void update(int section, UpdatePass pass, const AdamWStep& step);
    void rewind(int section, const AdamWStep& step);

  private:
    /// On the device.
    GradientRange gradient(int section) const;

    const ModelSpec& model_;
    const HostModel& host_;
    Device& device_;
    const DeviceBuffers& buffers_;
};

}  // namespace sluice
