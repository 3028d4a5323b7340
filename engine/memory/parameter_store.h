// Where are all parameters and their optimizer state, in host memory or on the device, and how are
// they read and written there?
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/layers/layer_layout.h"
#include "engine/optimizer/adamw.h"

namespace sluice {

/// A tensor as named in files: a range of rows of a tensor in a section.
struct NamedTensor {
    std::string name;         ///< Hugging Face's name, "model.layers.0.self_attn.q_proj.weight"
    int section = 0;          ///< layer, or ParameterStore::head(), ParameterStore::embedding()
    std::int64_t offset = 0;  ///< in the section, in elements
    std::vector<std::int64_t> shape;
    bool is_norm = false, is_bias = false;
    enum class Adapter : std::uint8_t { no, a, b };
    Adapter adapter = Adapter::no;
    std::int64_t elements() const;
};

/// Writes the fp32 values of a tensor's elements [begin, begin + count) to `out`. Called on the
/// threads of the pool.
using MasterValues = std::function<void(std::int64_t begin, std::int64_t count, float* out)>;

/// Takes the bf16 weights of a section that has no home for them.
using WeightCoder = std::function<void(int section, const std::uint16_t* weights)>;

/// Sections: each layer, the head (output projection unless tied, final norm), the embedding, the
/// adapters if there are any. Each has one home, without a copy elsewhere: the device if it is
/// resident, else host memory.
class ParameterStore {
  public:
    /// `blocks`: one a section, zeros. Those `on_device` are read and written through `staging`,
    /// kStaging bytes of page-locked host memory, which may be null if there are none.
    ParameterStore(const ModelSpec& model, const std::vector<ParameterBlock>& blocks,
                   const std::vector<bool>& on_device, char* staging, ThreadPool& pool,
                   Device& device, const AdapterShape& adapters = {}, WeightCoder coder = {});

    int layers() const { return layers_; }
    int head() const { return layers(); }
    int embedding() const { return layers() + 1; }
    int sections() const { return static_cast<int>(sections_.size()); }

    /// Low-rank adapters alone are trained.
    bool has_adapters() const { return sections() > embedding() + 1; }
    int adapters() const { return embedding() + 1; }

    bool on_device(int section) const { return at(section).on_device; }
    bool is_trained(int section) const { return block(section).is_trained(); }
    /// Points to the section's home.
    const ParameterBlock& block(int section) const { return at(section).block; }
    const std::vector<DecayRange>& decay_ranges(int section) const { return at(section).decay; }
    const std::vector<NamedTensor>& tensors() const { return tensors_; }
    int state_bytes() const { return state_bytes_; }

    // These read and write a section wherever it is. No lane may be at work.

    /// Bytes from `from` on, in a plane or moment of the section.
    void read(int section, const std::byte* from, std::span<std::byte> to) const;
    /// How often values were written, by the three below.
    std::int64_t writes() const { return writes_; }
    void write(int section, std::byte* to, std::span<const std::byte> from);
    /// Both planes of a tensor. Passes on exceptions of `values`. Tensors of a section without an
    /// address come in their order; with the last of them the coder gets all.
    void set_masters(const NamedTensor& tensor, const MasterValues& values);
    /// Approximately normal values of standard deviation `deviation` for matrices, ones for norms,
    /// zeros for biases. They depend only on the seed, not on homes or the number of threads.
    void initialise(std::uint64_t seed, float deviation);
    /// As peft does: A is uniform within 1 / sqrt(its columns), B is zero.
    void initialise_adapters(std::uint64_t seed);

  private:
    struct Section {
        ParameterBlock block;
        std::vector<DecayRange> decay;
        bool on_device = false;
        std::string last_tensor = {};
    };
    const Section& at(int section) const { return sections_[static_cast<std::size_t>(section)]; }

    int layers_;
    int state_bytes_;  ///< of what is trained
    ThreadPool& pool_;
    Device& device_;
    char* staging_;  ///< for pieces of resident sections
    std::vector<Section> sections_;
    WeightCoder coder_;
    std::vector<std::uint16_t> uncoded_;  ///< the section that is being set without an address
    std::vector<NamedTensor> tensors_;
    std::int64_t writes_ = 0;
};

/// Parameters of each section, the gaps between tensors included.
std::vector<std::int64_t> section_sizes(const ModelSpec& model, const AdapterShape& adapters = {});

/// The tensors of a model in the order of its sections, and in each of their offsets.
std::vector<NamedTensor> named_tensors(const ModelSpec& model);
/// Those of adapters in the order of their section, with the names of peft.
std::vector<NamedTensor> adapter_tensors(const ModelSpec& model, const AdapterShape& adapters);

}  // namespace sluice
