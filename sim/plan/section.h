// Which parts has a model whose tensors are stored, moved and updated together?
#pragma once

namespace sluice {

/// The layers in their order, then the head (final norm and output projection), then the token
/// embedding, then the adapters of all layers, if there are any: the one numbering of a model's
/// sections.
struct Sections {
    int layers = 0;
    bool adapted = false;  ///< adapters alone are trained
    int head() const { return layers; }
    int embedding() const { return layers + 1; }
    /// Precondition: adapted.
    int adapters() const { return layers + 2; }
    int count() const { return layers + (adapted ? 3 : 2); }
    bool is_layer(int section) const { return section < layers; }
};

}  // namespace sluice
