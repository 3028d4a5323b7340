#include <cmath>
#include <random>

#include "engine/optimizer/adamw.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("parameter block: planes give every master back bit by bit", "[optimizer]") {
    std::mt19937 random(1);
    for (int i = 0; i < 100000; ++i) {
        const std::uint32_t bits = random();
        REQUIRE(std::bit_cast<std::uint32_t>(
                    join_master(split_master(std::bit_cast<float>(bits)))) == bits);
    }
}

TEST_CASE("parameter block: a master is rounded to the nearest of its precision", "[optimizer]") {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    for (const auto& [bytes, low_bytes, moments, words] : kStatePrecisions) {
        std::uint16_t high = 0, low = 0;
        ParameterBlock block;
        block.high = &high;
        block.low = low_bytes > 0 ? &low : nullptr;
        block.state_bytes = bytes;
        const double half = low_bytes == 2 ? 0 : std::exp2(-8 * (1 + low_bytes) - 1);
        for (int i = 0; i < 100000; ++i) {
            const float x = normal(random) * std::exp2(static_cast<float>(i % 60 - 30));
            set_master(block, 0, x);
            const float stored = master_of(block, 0);
            const double power = std::exp2(std::floor(std::log2(std::abs(double{x}))) + 1);
            REQUIRE(std::abs(double{stored} - double{x}) <= half * power);
            set_master(block, 0, stored);
            REQUIRE(master_of(block, 0) == stored);
            REQUIRE(high == split_master(stored).high);
        }
    }
}

TEST_CASE("parameter block: the high plane is the master rounded to the nearest bf16",
          "[optimizer]") {
    // bf16 has steps of 1/128 from 1 to 2.
    CHECK(split_master(1.0F).high == 0x3f80);
    CHECK(split_master(1.0F + 0.49F / 128).high == 0x3f80);
    CHECK(split_master(1.0F + 0.51F / 128).high == 0x3f81);
    CHECK(split_master(-1.0F - 0.51F / 128).high == 0xbf81);
    CHECK(split_master(1.999F).high == 0x4000);
}
