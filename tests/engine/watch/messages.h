// Messages of protocol buffers, read back by a reader of the tests' own.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "tests/catch.h"

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
    Number number;
    REQUIRE(at + sizeof number <= bytes.size());
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

/// A message of protocol buffers: values by field, those of one field in their order; of fixed32
/// and fixed64 the bytes, of varint the digits.
using Message = std::multimap<std::uint32_t, std::string>;

inline Message parse(std::string_view bytes) {
    std::size_t at = 0;
    const auto varint = [&] {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = number_at<std::uint8_t>(bytes, at++);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return value;
        }
    };
    const auto take = [&](std::size_t count) {
        REQUIRE(at + count <= bytes.size());
        at += count;
        return std::string(bytes.substr(at - count, count));
    };
    Message out;
    while (at < bytes.size()) {
        const std::uint64_t key = varint();
        const auto field = static_cast<std::uint32_t>(key >> 3);
        switch (key & 7) {
            case 0:
                out.emplace(field, std::to_string(varint()));
                break;
            case 1:
                out.emplace(field, take(8));
                break;
            case 2:
                out.emplace(field, take(static_cast<std::size_t>(varint())));
                break;
            case 5:
                out.emplace(field, take(4));
                break;
            default:
                FAIL("wire type " << (key & 7));
        }
    }
    return out;
}

inline std::string only(const Message& message, std::uint32_t field) {
    REQUIRE(message.count(field) == 1);
    return message.find(field)->second;
}
