// Which kinds of homes can tensors have? Each file of this folder is one kind, with all that other
// parts of the program must know of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/moves.h"
#include "sim/plan/placement.h"
#include "sim/specs/scenario/declare_option.h"
#include "sim/specs/scenario/refused.h"

namespace sluice {

/// How a picture shows a layer where the words of its places do not say all.
struct ShownHome {
    bool (*is)(const Placement& homes, int layer);
    const char* words;  ///< in place of those of its place; or after them, where `shade` is 0
    double shade = 0;   ///< of the colour of the device
    bool kept = false;  ///< of what it keeps for backward; else of its weights and states
};

struct HomeKind {
    /// Gives the sections their homes of this kind. Kinds are placed in their order; each finds
    /// what those before it have placed.
    using Place = void (*)(const ModelSpec& model, const TrainingSpec& training,
                           Placement& placement);
    Place place;
    Place finish = nullptr;  ///< once all kinds have been placed
    std::vector<Option> options = {};
    /// The layers that have such homes, of which the first option is the number; null: it has none.
    std::int64_t TrainingSpec::*layers = nullptr;
    /// The most of them where not all layers of the model can be, and in words which these are.
    struct Most {
        std::int64_t layers;
        std::string words;
    };
    Most (*most)(const ModelSpec& model, const TrainingSpec& training) = nullptr;
    /// The name of its layers, if they are the first that are left and the GPU updates them.
    const char* updated_by_gpu = nullptr;
    /// Where it has the most layers, it also has one that is resident no longer.
    bool takes_all = false;
    /// The rule that a training breaks which sets one of the options.
    std::optional<Refusal> (*rule)(const TrainingSpec& training) = nullptr;
    std::vector<ValuesToTry> moves = {};
    std::optional<ShownHome> shown = {};

    const char* field() const { return options.front().field; }
};

/// The kinds, in the order in which they are placed. A kind is its file, which defines `HomeKind
/// NAME_homes()`, and its row here.
#define SLUICE_HOME_KINDS(row)                                                              \
    row(resident) row(deferred) row(visiting) row(late_moments) row(streamed) row(adapters) \
        row(gradients) row(inputs) row(kept) row(host_kept) row(kept_attention) row(coded)

#define SLUICE_DECLARE_HOME_KIND(name) HomeKind name##_homes();
SLUICE_HOME_KINDS(SLUICE_DECLARE_HOME_KIND)
#undef SLUICE_DECLARE_HOME_KIND

const std::vector<HomeKind>& home_kinds();

/// Options of homes precede the shared option `before`.
constexpr Listed home_option(const char* before) { return {OptionGroup::placement, before}; }

/// A number of layers.
template <auto Layers>
Option layers_option(const char* before, const char* field, std::string brief,
                     std::string help = {}) {
    return number_option<Layers>(home_option(before), field, "layers", 0, 10'000, std::move(brief),
                                 std::move(help));
}

/// Those that are not resident: the most of a kind that is on the host.
HomeKind::Most layers_on_host(const ModelSpec& model, const TrainingSpec& training);

/// The rule of homes that say when layers are updated.
std::optional<Refusal> trains_layers(const TrainingSpec& training, const char* field);
/// The rule of homes that need exact clipping.
std::optional<Refusal> clips_exactly(const TrainingSpec& training, const char* field);

/// Whether `index` is one of `chosen` that are evenly spread over `all`.
constexpr bool evenly_chosen(std::int64_t chosen, std::int64_t all, std::int64_t index) {
    return index >= 0 && index < all && (index + 1) * chosen / all > index * chosen / all;
}

}  // namespace sluice
