// Which kinds of homes can tensors have? Each file of this folder is one kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/placement.h"

namespace sluice {

/// Layers that an option gives a home of this kind.
struct LayerCount {
    const char* field;
    std::int64_t TrainingSpec::*layers;
};

struct HomeKind {
    /// Gives the sections their homes of this kind. Kinds are placed in their order; each finds
    /// what those before it have placed.
    using Place = void (*)(const ModelSpec& model, const TrainingSpec& training,
                           Placement& placement);
    Place place;
    Place finish = nullptr;  ///< once all kinds have been placed
    std::optional<LayerCount> count = {};
    /// The most layers that its count may have, and in words which these are; empty: all layers of
    /// the model.
    struct Most {
        std::int64_t layers;
        std::string words;
    };
    Most (*most)(const ModelSpec& model, const TrainingSpec& training) = nullptr;
};

/// The kinds, in the order in which they are placed. A kind is its file, which defines `HomeKind
/// NAME_homes()`, and its row here.
#define SLUICE_HOME_KINDS(row)                                                               \
    row(resident) row(visiting) row(streamed) row(deferred) row(late_moments) row(gradients) \
        row(coded) row(inputs) row(kept) row(host_kept) row(kept_attention)

#define SLUICE_DECLARE_HOME_KIND(name) HomeKind name##_homes();
SLUICE_HOME_KINDS(SLUICE_DECLARE_HOME_KIND)
#undef SLUICE_DECLARE_HOME_KIND

const std::vector<HomeKind>& home_kinds();

/// Those that are not resident: the most of a kind that is on the host.
HomeKind::Most layers_on_host(const ModelSpec& model, const TrainingSpec& training);

/// Whether `index` is one of `chosen` that are evenly spread over `all`.
constexpr bool evenly_chosen(std::int64_t chosen, std::int64_t all, std::int64_t index) {
    return index >= 0 && index < all && (index + 1) * chosen / all > index * chosen / all;
}

}  // namespace sluice
