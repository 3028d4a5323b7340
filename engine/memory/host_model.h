// Where are all parameters and their optimizer state in host memory?
#pragma once

#include <string>
#include <vector>

#include "engine/layers/layer_layout.h"
#include "engine/layers/workspace.h"
#include "engine/memory/host_region.h"
#include "engine/optimizer/adamw.h"

namespace sluice {

/// A tensor as named in files: a range of rows of a tensor in a section.
struct NamedTensor {
    std::string name;         ///< Hugging Face's name, "model.layers.0.self_attn.q_proj.weight"
    int section = 0;          ///< layer, or HostModel::head(), HostModel::embedding()
    std::int64_t offset = 0;  ///< in the section, in elements
    std::vector<std::int64_t> shape;
    bool is_norm = false, is_bias = false;
    std::int64_t elements() const;
};

/// Sections: each layer, the head (output projection unless tied, final norm), the embedding. Upper
/// planes are page-locked, since they are streamed (the embedding's only if it is also the output
/// projection).
class HostModel {
  public:
    /// Maps and touches everything; values are zeros. Throws InputError if memory is short.
    HostModel(const ModelSpec& model, int state_bytes, ThreadPool& pool, Device& device);

    int layers() const { return static_cast<int>(sections_.size()) - 2; }
    int head() const { return layers(); }
    int embedding() const { return layers() + 1; }
    int sections() const { return static_cast<int>(sections_.size()); }

    const ParameterBlock& block(int section) const { return at(section).block; }
    const std::vector<DecayRange>& decay_ranges(int section) const { return at(section).decay; }
    const std::vector<NamedTensor>& tensors() const { return tensors_; }
    int state_bytes() const { return state_bytes_; }
    Bytes bytes() const { return upper_.bytes() + unstreamed_upper_.bytes() + state_.bytes(); }

    /// Approximately normal values of standard deviation `deviation` for matrices, ones for norms,
    /// zeros for biases and moments. They depend only on the seed, not on the number of threads.
    void initialise(std::uint64_t seed, float deviation, ThreadPool& pool);

  private:
    struct Section {
        ParameterBlock block;
        std::vector<DecayRange> decay;
    };
    const Section& at(int section) const { return sections_[static_cast<std::size_t>(section)]; }

    int state_bytes_;
    HostRegion upper_, state_, unstreamed_upper_;
    std::vector<Section> sections_;
    std::vector<NamedTensor> tensors_;
};

/// Parameters of each section, the gaps between tensors included.
std::vector<std::int64_t> section_sizes(const ModelSpec& model);

/// A block of `count` parameters whose planes, moments and scales follow one another in `memory`,
/// aligned like a workspace's parts. Throws InternalError if it is too small.
ParameterBlock place_block(std::int64_t count, int state_bytes, Workspace memory);

/// The tensors of a model in the order of its sections.
std::vector<NamedTensor> named_tensors(const ModelSpec& model);

}  // namespace sluice
