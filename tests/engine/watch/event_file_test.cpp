// Does an event file hold what TensorBoard's format says? Read back here by a reader of its own.
#include "engine/watch/event_file.h"

#include <bit>
#include <cstring>
#include <map>

#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
    Number number;
    REQUIRE(at + sizeof number <= bytes.size());
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

std::uint32_t masked(std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

/// The records' bytes; both checksums of each must be right.
std::vector<std::string> records(std::string_view file) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < file.size();) {
        const auto length = static_cast<std::size_t>(number_at<std::uint64_t>(file, at));
        CHECK(number_at<std::uint32_t>(file, at + 8) == masked(file.substr(at, 8)));
        out.emplace_back(file.substr(at + 12, length));
        CHECK(number_at<std::uint32_t>(file, at + 12 + length) == masked(out.back()));
        at += 12 + length + 4;
    }
    return out;
}

/// A message of protocol buffers: values by field, those of one field in their order; of fixed32
/// and fixed64 the bytes, of varint the digits.
using Message = std::multimap<std::uint32_t, std::string>;

Message parse(std::string_view bytes) {
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

std::string only(const Message& message, std::uint32_t field) {
    REQUIRE(message.count(field) == 1);
    return message.find(field)->second;
}

}  // namespace

TEST_CASE("event file: CRC-32C is that of RFC 3720", "[watch]") {
    CHECK(crc32c("123456789") == 0xe3069283);
    CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
    CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
    CHECK(crc32c("") == 0);
}

TEST_CASE("event file: a version, the start of the run, then the numbers of each step", "[watch]") {
    const TempFolder temp;
    std::string path;
    {
        EventFile file(temp.path(), 301, 1.5e9);
        path = file.path();
        CHECK_THAT(path, ContainsSubstring("events.out.tfevents.1500000000."));
        CHECK(file.add(301, 1.5e9 + 0.25, {{"loss/train", 2.5}, {"speed", 1e5}}));
        // Each step is there at once, for who looks on.
        const std::string bytes = temp.read(std::filesystem::path(path).filename().string());
        const std::vector<std::string> all = records(bytes);
        REQUIRE(all.size() == 3);
        CHECK(only(parse(all[0]), 3) == "brain.Event:2");
        const Message start = parse(all[1]), step = parse(all[2]);
        CHECK(only(start, 2) == "301");
        CHECK(only(parse(only(start, 7)), 1) == "1");  // SessionLog.START
        CHECK(number_at<double>(only(step, 1), 0) == 1.5e9 + 0.25);
        CHECK(only(step, 2) == "301");
        std::map<std::string, float> scalars;
        const Message summary = parse(only(step, 5));
        for (const auto& [field, value] : summary) {
            CHECK(field == 1);
            const Message scalar = parse(value);
            scalars[only(scalar, 1)] = number_at<float>(only(scalar, 2), 0);
        }
        CHECK(scalars == std::map<std::string, float>{{"loss/train", 2.5F}, {"speed", 1e5F}});
    }
    const TempFolder gone;
    CHECK_THROWS_AS(EventFile(gone.path("no"), 1, 0), InputError);
}
