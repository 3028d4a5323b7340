// Weights as other programs save them: tensors by name, and a safetensors file of them.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/data/checkpoint_writer.h"
#include "engine/memory/parameter_store.h"
#include "engine/optimizer/adamw.h"

namespace sluice {

struct FileTensor {
    Dtype dtype;
    std::vector<std::int64_t> shape;
    std::string bytes;
};
using FileTensors = std::map<std::string, FileTensor>;

/// fp32 numbers whose bf16 and fp16 forms are exact or not, as `bits` says: multiples of 2^-bits
/// in [-1, 1).
inline std::vector<float> numbers(std::int64_t count, int bits, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto steps = static_cast<std::int64_t>(random() % (std::uint64_t{2} << bits));
        values.push_back(std::ldexp(static_cast<float>(steps), -bits) - 1.0F);
    }
    return values;
}

/// A number of at most 8 significant bits, at least 2^-14 or zero, in IEEE half precision.
inline std::uint16_t half_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
    return static_cast<std::uint16_t>(magnitude == 0 ? sign
                                                     : sign | ((magnitude >> 13) - (112U << 10)));
}

inline std::string bytes_as(Dtype dtype, const std::vector<float>& values) {
    if (dtype == Dtype::f32) return TempFolder::bytes_of(values);
    std::vector<std::uint16_t> words;
    for (const float value : values)
        words.push_back(dtype == Dtype::f16 ? half_of(value) : split_master(value).high);
    return TempFolder::bytes_of(words);
}

/// Weights of the model, all of one type; fp32 ones need the lower plane.
inline FileTensors weights_of(const ModelSpec& model, Dtype dtype) {
    FileTensors tensors;
    std::uint64_t seed = 1;
    for (const NamedTensor& t : named_tensors(model)) {
        const auto values = numbers(t.elements(), dtype == Dtype::f32 ? 20 : 6, seed++);
        tensors[t.name] = {dtype, t.shape, bytes_as(dtype, values)};
    }
    return tensors;
}

inline std::string write_weights(const std::string& path, const FileTensors& tensors) {
    std::vector<TensorSpec> specs;
    std::vector<std::string> bytes;
    for (const auto& [name, tensor] : tensors) {
        specs.push_back({name, tensor.dtype, tensor.shape});
        bytes.push_back(tensor.bytes);
    }
    const auto produce = [&](std::size_t i, std::int64_t begin, std::span<std::byte> chunk) {
        std::memcpy(chunk.data(), bytes[i].data() + begin, chunk.size());
    };
    SafetensorsWriter(specs).write(path, produce);
    return path;
}

}  // namespace sluice
