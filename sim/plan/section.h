// Which parts has a model whose tensors are stored, moved and updated together?
#pragma once

namespace sluice {

/// The layers in their order, then the head (final norm and output projection), then the token
/// embedding: the one numbering of a model's sections.
struct Sections {
    int layers = 0;
    int head() const { return layers; }
    int embedding() const { return layers + 1; }
    int count() const { return layers + 2; }
    bool is_layer(int section) const { return section < layers; }
};

}  // namespace sluice
