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

TEST_CASE("parameter block: the high plane is the master rounded to the nearest bf16",
          "[optimizer]") {
    // bf16 has steps of 1/128 from 1 to 2.
    CHECK(split_master(1.0F).high == 0x3f80);
    CHECK(split_master(1.0F + 0.49F / 128).high == 0x3f80);
    CHECK(split_master(1.0F + 0.51F / 128).high == 0x3f81);
    CHECK(split_master(-1.0F - 0.51F / 128).high == 0xbf81);
    CHECK(split_master(1.999F).high == 0x4000);
}
