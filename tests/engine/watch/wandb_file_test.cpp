// Does an offline run of Weights & Biases hold what its format says? Read back here by a reader of
// its own; wandb 0.31 reads the same.
#include "engine/watch/wandb_file.h"

#include <limits>

#include "engine/watch/crc32.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/watch/messages.h"

using namespace sluice;

namespace {

/// The records' bytes, of blocks of 32 KiB; the checksum of each part must be right.
std::vector<std::string> wandb_records(const std::string& file) {
    REQUIRE(file.substr(0, 7) == std::string(":W&B\xe1\xbe\0", 7));
    std::vector<std::string> out;
    std::string record;
    for (std::size_t at = 7; at < file.size();) {
        const std::size_t left = 32'768 - at % 32'768;
        if (left < 7) {
            CHECK(file.substr(at, left) == std::string(left, '\0'));
            at += left;
            continue;
        }
        const auto count = static_cast<std::size_t>(number_at<std::uint16_t>(file, at + 4));
        REQUIRE(7 + count <= left);
        const std::string checked = file.substr(at + 6, 1 + count);
        CHECK(number_at<std::uint32_t>(file, at) == crc32(checked));
        const int part = checked[0];  // whole, first, middle, last
        CHECK(record.empty() == (part == 1 || part == 2));
        record += checked.substr(1);
        if (part == 1 || part == 4) out.push_back(std::exchange(record, ""));
        at += 7 + count;
    }
    CHECK(record.empty());
    return out;
}

/// Key and JSON of the items of a message.
std::map<std::string, std::string> items(const Message& message, std::uint32_t key) {
    std::map<std::string, std::string> out;
    for (auto [one, end] = message.equal_range(1); one != end; ++one) {
        const Message item = parse(one->second);
        out[only(item, key)] = only(item, 16);
    }
    return out;
}

std::string bytes_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("wandb file: CRC-32 is that of zlib", "[watch]") {
    CHECK(crc32("123456789") == 0xcbf43926);
    CHECK(crc32("") == 0);
}

TEST_CASE("wandb file: the run, the numbers of each step, and its end", "[watch]") {
    const TempFolder temp;
    const WandbRun run{"abc12345", "tiny on a GPU", {{"learning_rate", 2e-5}, {"data", "a b"}}};
    WandbFile file(temp.path(), run, 1.5e9);
    CHECK(file.path() ==
          temp.path("wandb/offline-run-20170714_024000-abc12345/run-abc12345.wandb"));
    CHECK(file.add(7, 1.5e9 + 2, {{"loss/train", 2.5}, {"norm", NAN}}));
    // Each step is there at once, as after a kill.
    CHECK(wandb_records(bytes_of_file(file.path())).size() == 4);
    CHECK(file.end(1.5e9 + 3.5));
    const std::vector<std::string> all = wandb_records(bytes_of_file(file.path()));
    REQUIRE(all.size() == 5);
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(only(parse(all[i]), 1) == std::to_string(i + 1));
    const Message begun = parse(only(parse(all[1]), 17));
    CHECK(only(begun, 1) == "abc12345");
    CHECK(only(begun, 8) == "tiny on a GPU");
    CHECK(only(parse(only(begun, 17)), 1) == "1500000000");
    CHECK(items(parse(only(begun, 4)), 1) ==
          std::map<std::string, std::string>{{"learning_rate", "2e-05"}, {"data", "\"a b\""}});
    const std::map<std::string, std::string> expected{{"loss/train", "2.5"},
                                                      {"norm", "\"NaN\""},
                                                      {"_step", "7"},
                                                      {"_timestamp", "1500000002.0"},
                                                      {"_runtime", "2.0"}};
    const Message history = parse(only(parse(all[2]), 2));
    CHECK(items(history, 2) == expected);
    CHECK(only(parse(only(history, 2)), 1) == "7");
    CHECK(items(parse(only(parse(all[3]), 3)), 2) == expected);
    CHECK(only(parse(only(parse(all[4]), 18)), 2) == "3");
}

TEST_CASE("wandb file: records cross blocks", "[watch]") {
    const TempFolder temp;
    WandbFile file(temp.path(), {new_wandb_id(), "a run", {{"long", std::string(100'000, 'x')}}},
                   0);
    for (std::int64_t step = 1; step <= 500; ++step)
        CHECK(file.add(step, static_cast<double>(step), {{"loss/train", 1.0 / step}}));
    const std::vector<std::string> all = wandb_records(bytes_of_file(file.path()));
    REQUIRE(all.size() == 2 + 2 * 500);
    CHECK(only(parse(all[1]), 17).size() > 100'000);
    CHECK(only(parse(only(parse(parse(all[1000]).find(2)->second), 2)), 1) == "500");
    const std::string other = temp.write("file", "x");
    CHECK_THROWS_AS(WandbFile(other, {"a", "b", {}}, 0), InputError);
}
