// Where does each tensor of our schedule live, and who updates it? A value: the plan, the trainer
// and the window read it, and nothing else decides about places.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/section.h"
#include "sim/specs/machine/topology.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/model/weight_form.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// A kind of tensors that a section has.
enum class Plane : std::uint8_t {
    weights,            ///< in bf16, the high half of the masters; or as the device reads them
    states,             ///< the rest of the masters, and both moments
    codes,              ///< of weights in FP8, for the passes of a step
    gradient,           ///< of the weights
    input,              ///< the hidden state that a layer reads, until its backward
    kept_attention,     ///< what backward reads of attention: its output, or everything
    kept_feed_forward,  ///< everything that backward reads of the feed-forward
};
inline constexpr int kPlaneCount = 7;

/// Where a plane of a section is.
struct Home {
    std::optional<Memory> memory;  ///< between two uses; empty: computed where it is used
    /// In which it comes to the device. Activations kept as `codes_8_bit` are gate and up alone.
    Form form = Form::bf16;
    /// Places that such planes of all sections have on the device, in turn; 0: one of its own, or
    /// none.
    std::int32_t device_places = 0;
    std::int32_t turn = 0;  ///< how many of the planes that share these places come before it
    std::int32_t device_place() const { return device_places == 0 ? 0 : turn % device_places; }
    /// Which of the host's places for such planes it has; some share one in turn.
    std::int32_t host_place = 0;
    bool exists() const { return memory.has_value(); }
    bool on_device() const { return memory && memory->tier == Tier::device; }
    bool on_storage() const { return memory && memory->tier == Tier::storage; }
    bool on_host() const { return memory && memory->tier == Tier::host; }
};

/// Who updates a section's parameters, and when. Else it is as soon as its gradients are complete.
/// Nobody updates those that are frozen.
struct Updater {
    enum class By : std::uint8_t { cpu, gpu, none };
    By by = By::cpu;
    bool after_norm = false;      ///< of the gradients of all sections, which clips them
    bool beside_forward = false;  ///< of the next step, unless it waits for the norm
    bool moments_later = false;   ///< the moments beside the next backward
    bool may_be_ahead = false;    ///< of the norm, in a step that expects that nothing is clipped
};

/// A layer's tensors for backward that have the place of another layer's visiting states.
struct KeptBesideVisit {
    std::int32_t visit = 0;            ///< which visiting layer's place: 0 is the first one's
    std::int32_t part = 0, parts = 1;  ///< the place has those of so many layers
};

/// Where visiting states are on the device: in places of one size, most of which hold what the last
/// layers keep for backward between two visits.
struct Visits {
    int first = 0, count = 0;    ///< layers whose states visit
    double bytes_of_states = 0;  ///< of a place
    double bytes_with_kept = 0;  ///< of a place that holds kept tensors, too
    std::int32_t layers = 0;     ///< whose kept tensors a place has; 0: none
    /// One a visit: the first of the layers whose kept tensors have its place; it and those after
    /// it keep everything on the device. The last visit has the last ones. Empty: none.
    std::vector<std::optional<int>> first_kept;
};

/// The homes of all planes of a model under one training. Sections as in `Sections`.
class Placement {
  public:
    explicit Placement(int layers = 0, bool adapted = false)
        : sections{layers, adapted}, homes_(static_cast<std::size_t>(sections.count())) {}

    Home& home(int section, Plane plane) { return at(section).home[index(plane)]; }
    const Home& home(int section, Plane plane) const { return at(section).home[index(plane)]; }
    Updater& update(int section) { return at(section).update; }
    const Updater& update(int section) const { return at(section).update; }

    /// It has states, which updates change; else its weights are frozen.
    bool is_trained(int section) const { return home(section, Plane::states).exists(); }
    /// Weights, and states if it has them, are on the device, which has their only copy.
    bool is_resident(int section) const { return home(section, Plane::weights).on_device(); }
    /// Whether each section is.
    std::vector<bool> resident_sections() const;
    /// Its states are on the host and come to the device, which updates them.
    bool is_visiting(int section) const {
        return !is_resident(section) && update(section).by == Updater::By::gpu;
    }
    /// Updates of all that is trained wait for the norm of the gradients.
    bool updates_after_norm() const {
        return update(sections.adapted ? sections.adapters() : sections.head()).after_norm;
    }
    /// Backward of the layer computes nothing again.
    bool keeps_everything(int layer) const {
        return home(layer, Plane::kept_feed_forward).exists();
    }
    bool keeps_on_host(int layer) const { return home(layer, Plane::kept_feed_forward).on_host(); }
    /// The tensors that backward of the layer computes again.
    Recompute recompute(int layer) const;
    /// Backward of the layer computes its input again. That of the last layer is still there.
    bool computes_input(int layer) const {
        return !home(layer, Plane::input).exists() && layer + 1 < sections.layers;
    }
    /// It waits on the host, which has layer 0's, the embedding rows, if it gathers them.
    bool input_leaves(int layer) const {
        return home(layer, Plane::input).on_host() &&
               (layer > 0 || is_resident(sections.embedding()));
    }
    /// In which form passes have the section's weights. That of layers that are not bf16 is one.
    const WeightForm& weights(int section) const {
        return weight_form(home(section, Plane::weights).form);
    }
    /// Passes read codes of the layer's weights.
    bool is_coded(int section) const { return home(section, Plane::weights).form != Form::bf16; }
    /// The form of these layers; bf16: there are none.
    Form coded_form() const;
    /// The host has these codes, which are copied to the device.
    bool arrives_as_codes(int section) const {
        return home(section, Plane::weights).on_host() && is_coded(section);
    }
    /// The weights in bf16 are somewhere, too.
    bool has_bf16(int section) const { return is_trained(section) || !is_coded(section); }
    /// The bits of each number of gate and up where these are kept.
    int kept_bits(int layer) const {
        return home(layer, Plane::kept_feed_forward).form == Form::codes_8_bit ? 8 : 16;
    }
    std::optional<KeptBesideVisit> kept_beside_visit(int layer) const;
    Sections sections;
    Visits visits;
    int kept_on_host = 0;  ///< layers whose kept tensors are there
    AdapterShape adapters;
    /// The form of hidden states and of their kin: bf16, or fp32 on a processor.
    Form activations = Form::bf16;
    double activation_scale() const { return activations == Form::fp32 ? 2 : 1; }

  private:
    struct OfSection {
        std::array<Home, kPlaneCount> home;
        Updater update;
    };
    static std::size_t index(Plane plane) { return static_cast<std::size_t>(plane); }
    OfSection& at(int section) { return homes_[static_cast<std::size_t>(section)]; }
    const OfSection& at(int section) const { return homes_[static_cast<std::size_t>(section)]; }

    std::vector<OfSection> homes_;
};

/// Precondition: no home_refusal().
Placement placement_of(const ModelSpec& model, const TrainingSpec& training,
                       Form activations = Form::bf16);
/// Why an option cannot give homes to so many layers of the model.
std::optional<Refusal> home_refusal(const ModelSpec& model, const TrainingSpec& training);

/// The same plan, with at most as many layers kept on the host as --keep-last-layers leaves.
TrainingSpec as_kept(const ModelSpec& model, const TrainingSpec& training);

/// Tensors that a layer keeps for backward, in bytes per token: of attention, and of the
/// feed-forward, where those in place are what its kernels read and write; gate and up in 8 bits
/// are not.
struct KeptBytes {
    double attention = 0, feed_forward = 0, in_place = 0;
    double adapters = 0;
    double all() const { return attention + feed_forward + adapters; }
};
KeptBytes kept_bytes(const ModelSpec& model, const Placement& placement, int layer);

}  // namespace sluice
