#include "engine/optimizer/moment_conversion.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr std::int64_t kConverted = 5 * kMomentBlock + 37;

struct OwnBlock {
    explicit OwnBlock(int state_bytes) {
        block.count = kConverted;
        block.state_bytes = state_bytes;
        place_state(block, [this](std::int64_t bytes) {
            return memory.emplace_back(static_cast<std::size_t>(bytes)).data();
        });
    }
    std::deque<std::vector<std::byte>> memory;
    ParameterBlock block;
};

OwnBlock converted(const ParameterBlock& from, int state_bytes) {
    OwnBlock to(state_bytes);
    convert_moments(from, to.block);
    return to;
}

}  // namespace

TEST_CASE("moment conversion: masters keep their upper plane and what the lower one holds",
          "[optimizer]") {
    std::mt19937 random(6);
    std::vector<std::uint16_t> high(kConverted);
    OwnBlock exact(12);
    exact.block.high = high.data();
    for (std::int64_t i = 0; i < kConverted; ++i) {
        const std::uint32_t low = i % 2 != 0 ? 0x8000U + random() % 0xff00U : 0x7fffU;
        set_master(exact.block, i, std::bit_cast<float>(0x3f000000U + (low & 0xffffU)));
    }
    for (const auto& [bytes, low_bytes, moments, words] : kStatePrecisions) {
        OwnBlock there(bytes), back(12);
        there.block.high = back.block.high = high.data();
        convert_low_planes(exact.block, there.block);
        convert_low_planes(there.block, back.block);
        // Half a unit, but one below where the nearest has another upper plane.
        const double unit = low_bytes == 2 ? 0 : std::exp2(-8 * (1 + low_bytes));
        CAPTURE(bytes);
        for (std::int64_t i = 0; i < kConverted; ++i) {
            const double miss =
                double{master_of(there.block, i)} - double{master_of(exact.block, i)};
            REQUIRE(std::abs(miss) <= (i % 2 != 0 ? unit / 2 : unit));
            REQUIRE(master_of(back.block, i) == master_of(there.block, i));
        }
    }
}

TEST_CASE("moment conversion: values stay within the spacing of both types", "[optimizer]") {
    OwnBlock exact(12);
    auto* const first = static_cast<float*>(exact.block.first_moment);
    auto* const second = static_cast<float*>(exact.block.second_moment);
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < kConverted; ++i) {
        const float size = i < kMomentBlock ? 0 : std::exp(3 * normal(random)) * 1e-4F;
        first[i] = size * normal(random);
        second[i] = size * size;
    }
    const ParameterBlock& e = exact.block;
    for (const int bytes : {12, 8, 6, 5, 4}) {
        const OwnBlock there = converted(e, bytes);
        const OwnBlock back = converted(there.block, 12);
        const auto* const first_back = static_cast<const float*>(back.block.first_moment);
        const auto* const second_back = static_cast<const float*>(back.block.second_moment);
        CAPTURE(bytes);
        for (std::int64_t begin = 0; begin < kConverted; begin += kMomentBlock) {
            const std::int64_t end = std::min(kConverted, begin + kMomentBlock);
            float largest = 0, largest_root = 0;
            for (std::int64_t i = begin; i < end; ++i) {
                largest = std::max(largest, std::abs(first[i]));
                largest_root = std::max(largest_root, std::sqrt(second[i]));
            }
            for (std::int64_t i = begin; i < end; ++i) {
                const float root = std::sqrt(second[i]);
                // Half a code: of bf16, or of a square root with 127 levels, a fourth with 255.
                float most = 0, most_root = 0;
                if (bytes == 8) most = std::abs(first[i]) / 256, most_root = root / 256;
                if (bytes <= 6) {
                    const float code = std::sqrt(std::abs(first[i]) / std::max(largest, 1e-30F));
                    most = largest * (code + 1.0F / 254) / 127;
                    const float part = std::sqrt(root / std::max(largest_root, 1e-30F));
                    most_root = largest_root * (4 * part + 8.0F / 255) / 255;
                }
                CHECK(std::abs(first_back[i] - first[i]) <= 1.001F * most);
                CHECK(std::abs(std::sqrt(second_back[i]) - root) <= 1.001F * most_root);
                CHECK((second_back[i] > 0) == (second[i] > 0));
            }
        }
        // A value that a type held comes back to it; a scale is rounded.
        if (bytes > 6) CHECK(converted(back.block, bytes).memory == there.memory);
    }
}
