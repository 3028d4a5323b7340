// Models small enough to be saved hundreds of times, and all of their state as comparable bytes.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/data/files.h"
#include "engine/memory/parameter_store.h"
#include "engine/train/weights_file.h"
#include "sim/base/json_object.h"
#include "sim/specs/model/read_model.h"
#include "tests/engine/memory_blocks.h"

namespace sluice {

/// A model of 2 layers whose tensors have odd lengths: 10 x 6 and the like, of which no sum is a
/// multiple of kMomentBlock.
inline ModelSpec tiny_model(const std::string& family = "qwen2", bool tied = false) {
    ModelSpec model = parse_generic_model(
        "layers=2,hidden=10,heads=2,kv_heads=1,head_dim=6,intermediate=14,vocabulary=33");
    model.name = "tiny";
    model.family = family;
    model.tied_embeddings = tied;
    LayerSpec& layer = model.kinds.front();
    layer.attention.qkv_bias = family == "qwen2";
    layer.attention.qk_norm = family == "qwen3";
    return model;
}

/// A store with what its constructor needs.
struct TinyStore {
    /// Bit i of `resident`: section i is on the device.
    explicit TinyStore(ModelSpec spec, int state_bytes = 12, unsigned resident = 0)
        : model(std::move(spec)),
          memory(model, state_bytes),
          store(model, memory.blocks(), memory.on_device(resident), memory.staging(), pool,
                *device) {}

    std::vector<StoredTensor> tensors() const {
        std::vector<StoredTensor> all = weight_tensors(store);
        for (StoredTensor& tensor : optimizer_tensors(store)) all.push_back(std::move(tensor));
        return all;
    }
    /// Any bytes, the same for the same seed.
    void fill(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        for (const StoredTensor& tensor : tensors()) {
            for (std::int64_t i = 0; i < tensor_bytes(tensor.spec); ++i)
                tensor.data[i] = static_cast<std::byte>(random());
        }
    }
    std::string bytes() const {
        std::string all;
        for (const StoredTensor& tensor : tensors())
            all.append(reinterpret_cast<const char*>(tensor.data),
                       static_cast<std::size_t>(tensor_bytes(tensor.spec)));
        return all;
    }

    ModelSpec model;
    MemoryBlocks memory;
    ThreadPool pool{2};
    std::unique_ptr<Device> device = make_cpu_device(1);
    ParameterStore store;
};

/// Makes the checksums of a checkpoint those of its files as they are now.
inline void renew_checksums(const std::string& folder) {
    const std::string path = folder + "/checksums.xxh3";
    std::vector<FileChecksum> files = parse_checksums(read_text_file(path), path);
    for (FileChecksum& file : files) {
        Checksum checksum;
        const std::string text = read_text_file(folder + "/" + file.name);
        checksum.add(std::as_bytes(std::span(text)));
        file.value = checksum.value();
    }
    write_output_file(path, checksum_text(files));
}

}  // namespace sluice
