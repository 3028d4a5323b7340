// Does an event file hold what TensorBoard's format says? Read back here by a reader of its own.
#include "engine/watch/event_file.h"

#include <map>

#include "engine/watch/crc32.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/watch/messages.h"

using namespace sluice;

namespace {

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
