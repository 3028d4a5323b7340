// Codes that the optimizer writes against to_fp8(), for every number that bf16 has.
#include "engine/optimizer/weight_codes.h"

#include <cmath>
#include <vector>

#include "engine/kernels/fp8.h"
#include "engine/optimizer/adamw_implementation.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("weight codes: to_fp8() to the bit, of every number, by each implementation", "[run]") {
    constexpr std::size_t kAll = 1 << 16, kOdd = kAll - 5;
    std::vector<std::uint16_t> numbers(kAll);
    for (std::size_t i = 0; i < kAll; ++i) numbers[i] = static_cast<std::uint16_t>(40503 * i);
    for (const AdamWImplementation& implementation : adamw_implementations()) {
        for (const float factor : {1.0F, 256.0F, 0x1p-100F, 0x1p120F}) {
            CAPTURE(implementation.name, factor);
            std::vector<std::uint8_t> codes(kAll);
            CHECK(implementation.weight_codes(numbers.data(), codes.data(), kOdd, factor) ==
                  0x7fff);
            int wrong = 0, compared = 0;
            for (std::size_t i = 0; i < kOdd; ++i) {
                const float scaled = std::bit_cast<float>(std::uint32_t{numbers[i]} << 16) * factor;
                if (!(std::abs(scaled) <= 448)) continue;
                wrong += codes[i] == to_fp8(scaled, DType::e4m3) ? 0 : 1, ++compared;
            }
            CHECK(wrong == 0);
            CHECK(compared > 1000);
            CHECK((codes[kOdd] == 0 && codes[kAll - 1] == 0));
        }
    }
}

TEST_CASE("weight codes: the largest number is found in any place", "[run]") {
    for (const AdamWImplementation& implementation : adamw_implementations()) {
        for (std::size_t at = 0; at < 37; ++at) {
            std::vector<std::uint16_t> numbers(37, 0x3c00);
            std::vector<std::uint8_t> codes(37);
            for (const std::uint16_t largest : {0xbf80, 0x7f80, 0xffc0}) {
                numbers[at] = largest;
                CHECK(implementation.weight_codes(numbers.data(), codes.data(), 37, 1) ==
                      (largest & 0x7fff));
            }
        }
    }
}
