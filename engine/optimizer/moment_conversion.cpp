#include "engine/optimizer/moment_conversion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/optimizer/moment_codes.h"

namespace sluice {
namespace {

struct ScalarMoments {
    float first = 0, second = 0;
};

template <typename T>
T element(const void* array, std::int64_t i) {
    return static_cast<const T*>(array)[i];
}

ScalarMoments read_moments(const ParameterBlock& from, std::int64_t i) {
    if (from.precision().moment_bytes == 4)
        return {element<float>(from.first_moment, i), element<float>(from.second_moment, i)};
    if (from.precision().moment_bytes == 2)
        return {join_master({element<std::uint16_t>(from.first_moment, i), 0}),
                join_master({element<std::uint16_t>(from.second_moment, i), 0})};
    const auto first = static_cast<float>(element<std::int8_t>(from.first_moment, i));
    const auto second = static_cast<float>(element<std::uint8_t>(from.second_moment, i));
    const float root = second * second * from.second_scale[i / kMomentBlock];
    return {first * std::abs(first) * from.first_scale[i / kMomentBlock], root * root};
}

void write_codes(const ParameterBlock& to, std::int64_t begin, const ScalarMoments* moments,
                 std::int64_t count) {
    ScalarMoments largest;
    for (std::int64_t i = 0; i < count; ++i)
        largest = {std::max(largest.first, std::abs(moments[i].first)),
                   std::max(largest.second, moments[i].second)};
    to.first_scale[begin / kMomentBlock] = largest.first / (kFirstLevels * kFirstLevels);
    to.second_scale[begin / kMomentBlock] =
        std::sqrt(largest.second) / (kSecondLevels * kSecondLevels);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto [first, second] = moments[i];
        float code = 0, root_code = 0;
        if (first != 0)
            code = std::round(std::sqrt(std::abs(first) / largest.first) * kFirstLevels);
        if (second > 0)
            root_code =
                std::max(kLeastSecondCode,
                         std::round(std::sqrt(std::sqrt(second / largest.second)) * kSecondLevels));
        static_cast<std::int8_t*>(to.first_moment)[begin + i] =
            static_cast<std::int8_t>(std::copysign(code, first));
        static_cast<std::uint8_t*>(to.second_moment)[begin + i] =
            static_cast<std::uint8_t>(root_code);
    }
}

void write_moments(const ParameterBlock& to, std::int64_t i, ScalarMoments moments) {
    if (to.precision().moment_bytes == 4) {
        static_cast<float*>(to.first_moment)[i] = moments.first;
        static_cast<float*>(to.second_moment)[i] = moments.second;
    } else {
        static_cast<std::uint16_t*>(to.first_moment)[i] = split_master(moments.first).high;
        static_cast<std::uint16_t*>(to.second_moment)[i] = split_master(moments.second).high;
    }
}

}  // namespace

void convert_moments(const ParameterBlock& from, const ParameterBlock& to) {
    std::array<ScalarMoments, kMomentBlock> moments;
    for (std::int64_t begin = 0; begin < from.count; begin += kMomentBlock) {
        const std::int64_t count = std::min(kMomentBlock, from.count - begin);
        for (std::int64_t i = 0; i < count; ++i)
            moments[static_cast<std::size_t>(i)] = read_moments(from, begin + i);
        if (to.precision().has_scales()) {
            write_codes(to, begin, moments.data(), count);
            continue;
        }
        for (std::int64_t i = 0; i < count; ++i)
            write_moments(to, begin + i, moments[static_cast<std::size_t>(i)]);
    }
}

void convert_low_planes(const ParameterBlock& from, const ParameterBlock& to) {
    const int had = from.precision().low_bytes, has = to.precision().low_bytes;
    for (std::int64_t i = 0; i < from.count; ++i) {
        int low = 0;
        if (had == 2) low = element<std::int16_t>(from.low, i);
        if (had == 1) low = element<std::int8_t>(from.low, i) * 256;
        if (has == 2) static_cast<std::int16_t*>(to.low)[i] = static_cast<std::int16_t>(low);
        if (has == 1)
            static_cast<std::int8_t*>(to.low)[i] =
                static_cast<std::int8_t>(std::min((low + 128) >> 8, 127));
    }
}

}  // namespace sluice
