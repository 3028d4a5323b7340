#include "engine/kernels/fp8.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

TEST_CASE("fp8: codes that the standard gives", "[kernels]") {
    using D = DType;
    const auto is = [](D type, int code, float value) {
        CAPTURE(code, value);
        CHECK(from_fp8(static_cast<std::uint8_t>(code), type) == value);
        CHECK(to_fp8(value, type) == code);
    };
    is(D::e4m3, 0x00, 0), is(D::e4m3, 0x38, 1), is(D::e4m3, 0xb8, -1), is(D::e4m3, 0x7e, 448);
    is(D::e4m3, 0x01, 0x1p-9F), is(D::e4m3, 0x08, 0x1p-6F), is(D::e4m3, 0x07, 0x7p-9F);
    is(D::e5m2, 0x3c, 1), is(D::e5m2, 0x7b, 57344), is(D::e5m2, 0x01, 0x1p-16F);
    is(D::e5m2, 0x04, 0x1p-14F), is(D::e5m2, 0x83, -0x3p-16F);
    CHECK(from_fp8(0x7c, D::e5m2) == kInfinity);
    CHECK(std::isnan(from_fp8(0x7f, D::e4m3)));
    CHECK(std::isnan(from_fp8(0x7d, D::e5m2)));
}

TEST_CASE("fp8: every code is its own nearest, and halves go to the even one", "[kernels]") {
    for (const DType type : {DType::e4m3, DType::e5m2}) {
        const int largest = type == DType::e4m3 ? 0x7e : 0x7b;
        for (int code = 0; code <= largest; ++code) {
            const auto here = static_cast<std::uint8_t>(code);
            const float value = from_fp8(here, type);
            CAPTURE(code, value);
            CHECK(to_fp8(value, type) == here);
            CHECK(to_fp8(-value, type) == (here | 0x80));
            if (code == largest) continue;
            const auto next = static_cast<std::uint8_t>(code + 1);
            const float half = (value + from_fp8(next, type)) / 2;
            CHECK(to_fp8(half, type) == (code % 2 == 0 ? here : next));
            CHECK(to_fp8(std::nextafter(half, 0.0F), type) == here);
            CHECK(to_fp8(std::nextafter(half, kInfinity), type) == next);
        }
        for (const float beyond : {1e5F, 1e30F, kInfinity})
            CHECK(to_fp8(-beyond, type) == (largest | 0x80));
        CHECK(to_fp8(std::nanf(""), type) == 0x7f);
    }
}

TEST_CASE("fp8: the factor is a power of two that just fits", "[kernels]") {
    for (const auto& [type, top] :
         {std::pair{DType::e4m3, 448.0F}, std::pair{DType::e5m2, 57344.0F}}) {
        for (const float largest : {1e-30F, 0.3F, 1.0F, 1.75F, 1.7578125F, 447.0F, 449.0F, 3e38F}) {
            const float factor = fp8_factor(bits_of(largest), type);
            CAPTURE(largest, factor);
            CHECK(std::exp2(std::ilogb(factor)) == factor);
            CHECK(largest * factor <= top);
            CHECK(2 * (largest * factor) > top);
        }
        CHECK(fp8_factor(0, type) == 1);
        CHECK(fp8_factor(bits_of(1e-40F), type) == 0x1p126F);
        CHECK(std::isnan(fp8_factor(bits_of(kInfinity), type)));
        CHECK(std::isnan(fp8_factor(bits_of(std::nanf("")), type)));
    }
}
