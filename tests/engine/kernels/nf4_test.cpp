#include "engine/kernels/nf4.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include "sim/base/units.h"
#include "tests/catch.h"
#include "tests/engine/kernels/nf4_vectors.h"

using namespace sluice;

namespace {

/// Without what bf16 has no bits for.
std::uint16_t bf16_bits(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

struct Encoded {
    explicit Encoded(const std::vector<std::uint16_t>& weights)
        : block(static_cast<std::size_t>(Nf4Parts(std::ssize(weights)).end)),
          tensor(block.data(), std::ssize(weights)) {
        double sum = 0;
        for (std::int64_t group = 0; group < tensor.parts.groups; ++group)
            sum += nf4_sum(weights.data(), tensor, group);
        *tensor.mean() = static_cast<float>(sum / static_cast<double>(tensor.parts.blocks));
        for (std::int64_t group = 0; group < tensor.parts.groups; ++group)
            encode_nf4(weights.data(), tensor, group, *tensor.mean());
    }
    std::vector<std::uint16_t> decoded() const {
        std::vector<std::uint16_t> out(static_cast<std::size_t>(tensor.elements));
        for (std::int64_t group = 0; group < tensor.parts.groups; ++group)
            decode_nf4(out.data(), tensor, group);
        return out;
    }
    std::vector<char> block;
    Nf4Tensor tensor;
};

template <typename T>
std::uint64_t fnv(std::span<const T> data) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const std::byte byte : std::as_bytes(data))
        hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
    return hash;
}

/// As nf4_vectors.py makes them.
std::vector<std::uint16_t> weights_of_vectors() {
    std::vector<std::uint16_t> out;
    for (std::int64_t i = 0; i < nf4_vectors::kElements; ++i) {
        const std::int64_t bits = i * 2654435761 % (std::int64_t{1} << 32);
        const std::int64_t largest = 1 + i / 64 * 37 % 255;
        const std::int64_t value = (bits >> 8) % (2 * largest + 1) - largest;
        out.push_back(bf16_bits(i / 64 == 1 ? 0.0F : static_cast<float>(value) * 0x1p-12F));
    }
    return out;
}

}  // namespace

TEST_CASE("nf4: blocks, scales and numbers are those of bitsandbytes, to the bit", "[kernels]") {
    namespace expected = nf4_vectors;
    const std::vector<std::uint16_t> weights = weights_of_vectors();
    const Encoded encoded(weights);
    const Nf4Tensor& t = encoded.tensor;
    const auto bytes = [](const std::uint8_t* from, std::int64_t count) {
        return std::span(from, static_cast<std::size_t>(count));
    };
    CHECK(fnv(std::span<const float>(dynamic_numbers())) == expected::kNumbers);
    CHECK(*t.mean() == expected::kMean);
    REQUIRE(t.parts.groups == std::ssize(expected::kLargest));
    for (std::int64_t i = 0; i < t.parts.groups; ++i)
        CHECK(t.largest()[i] == expected::kLargest[i]);
    CHECK(fnv(std::span<const std::uint8_t>(bytes(t.scales(), t.parts.blocks))) ==
          expected::kScales);
    CHECK(fnv(std::span<const std::uint8_t>(bytes(t.codes(), t.elements / 2))) == expected::kCodes);
    const std::vector<std::uint16_t> decoded = encoded.decoded();
    CHECK(fnv(std::span<const std::uint16_t>(decoded)) == expected::kDecoded);
}

TEST_CASE("nf4: each number is the nearest that its block's scale has", "[kernels]") {
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0, 0.02F);
    for (const std::int64_t elements : {2, 62, 64, 66, 64 * 256, 64 * 257 + 2}) {
        std::vector<std::uint16_t> weights;
        for (std::int64_t i = 0; i < elements; ++i) weights.push_back(bf16_bits(normal(random)));
        const Encoded encoded(weights);
        const std::vector<std::uint16_t> decoded = encoded.decoded();
        CAPTURE(elements);
        for (std::int64_t begin = 0; begin < elements; begin += kNf4Block) {
            const std::int64_t end = std::min(begin + kNf4Block, elements);
            float largest = 0;
            const auto number = [](const std::vector<std::uint16_t>& of, std::int64_t i) {
                return bf16_to_float(of[static_cast<std::size_t>(i)]);
            };
            for (std::int64_t i = begin; i < end; ++i)
                largest = std::max(largest, std::abs(number(weights, i)));
            // Half of the widest gap between two numbers, the scale's own rounding and bf16's.
            const float most = largest * (0.16F + 0.06F);
            for (std::int64_t i = begin; i < end; ++i)
                REQUIRE(std::abs(number(decoded, i) - number(weights, i)) <= most);
        }
    }
}

TEST_CASE("nf4: zeros stay zeros", "[kernels]") {
    std::vector<std::uint16_t> weights(256, bf16_bits(0.5F));
    std::fill_n(weights.begin() + 64, 64, std::uint16_t{0});
    const std::vector<std::uint16_t> decoded = Encoded(weights).decoded();
    for (std::size_t i = 64; i < 128; ++i) CHECK((decoded[i] & 0x7fff) == 0);
    CHECK(Encoded(std::vector<std::uint16_t>(128, 0)).decoded() ==
          std::vector<std::uint16_t>(128, 0));
}
