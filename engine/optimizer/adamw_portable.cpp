#include <bit>
#include <cmath>

#include "engine/optimizer/adamw_kernel.h"
#include "engine/optimizer/weight_codes_kernel.h"

namespace sluice {

namespace {

/// "Vectors" of one element. They define, bit by bit, the results of each operation of the others.
struct Scalar {
    static constexpr int kWidth = 1;
    static constexpr std::int64_t kAhead = 0;
    using Float = float;
    using Bits = std::uint32_t;

    static Float set(float x) { return x; }
    static Bits set_bits(std::uint32_t x) { return x; }
    static Bits lanes() { return 0; }  // 0, 1, 2, ... kWidth - 1
    static Float load(const float* from) { return *from; }
    static void store(float* to, Float x) { *to = x; }
    static Bits load_u16(const std::uint16_t* from) { return *from; }
    static Bits load_i16(const std::uint16_t* from) {  // with the sign of 16 bits
        return static_cast<Bits>(static_cast<std::int16_t>(*from));
    }
    static Bits load_u8(const std::uint8_t* from) { return *from; }
    static Bits load_i8(const std::int8_t* from) { return static_cast<Bits>(*from); }
    static void store_16(std::uint16_t* to, Bits x) { *to = static_cast<std::uint16_t>(x); }
    static void store_8(void* to, Bits x) { *static_cast<std::uint8_t*>(to) = x & 0xffU; }

    static Float as_float(Bits x) { return std::bit_cast<float>(x); }
    static Bits as_bits(Float x) { return std::bit_cast<Bits>(x); }
    static Float to_float(Bits x) { return static_cast<float>(static_cast<std::int32_t>(x)); }
    static Bits to_bits(Float x) {  // toward zero
        return static_cast<Bits>(static_cast<std::int32_t>(x));
    }

    static Float add(Float a, Float b) { return a + b; }
    static Float sub(Float a, Float b) { return a - b; }
    static Float mul(Float a, Float b) { return a * b; }
    static Float div(Float a, Float b) { return a / b; }
    static Float fma(Float a, Float b, Float c) { return std::fma(a, b, c); }   // a b + c
    static Float fms(Float a, Float b, Float c) { return std::fma(a, b, -c); }  // a b - c
    static Float sqrt(Float x) { return std::sqrt(x); }
    static Float absolute(Float x) { return std::abs(x); }
    static Float larger(Float a, Float b) { return a > b ? a : b; }
    static Float with_sign_of(Float magnitude, Float x) { return std::copysign(magnitude, x); }
    static Float if_less(Float a, Float b, Float yes, Float no) { return a < b ? yes : no; }
    static float root(float x) { return __builtin_sqrtf(x); }
    static float largest_lane(Float x) { return x; }

    static Bits plus(Bits a, Bits b) { return a + b; }
    static Bits minus(Bits a, Bits b) { return a - b; }
    static Bits times(Bits a, Bits b) { return a * b; }
    static Bits bits_and(Bits a, Bits b) { return a & b; }
    static Bits bits_xor(Bits a, Bits b) { return a ^ b; }
    template <int n>
    static Bits shift_left(Bits x) {
        return x << n;
    }
    template <int n>
    static Bits shift_right(Bits x) {
        return x >> n;
    }
};

}  // namespace

void adamw_portable(UpdatePass pass, int state_bytes, const AdamWConstants& constants,
                    const AdamWArrays& arrays, std::int64_t count) {
    adamw_kernel<Scalar>(pass, state_bytes, constants, arrays, count);
}

std::uint16_t weight_codes_portable(const std::uint16_t* from, std::uint8_t* codes,
                                    std::int64_t count, float factor) {
    return weight_codes_kernel<Scalar>(from, codes, count, factor);
}

}  // namespace sluice
