#include "engine/data/batch_sampler.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "sim/base/mixed_bits.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

std::vector<std::int64_t> order_of(std::int64_t count, std::uint64_t key) {
    const ShuffledOrder order(count, key);
    std::vector<std::int64_t> entries;
    for (std::int64_t i = 0; i < count; ++i) entries.push_back(order(i));
    return entries;
}

/// `count` ids that rise by one, so that a token tells its place.
std::vector<std::uint16_t> rising(std::uint16_t first, std::size_t count) {
    std::vector<std::uint16_t> ids(count);
    std::iota(ids.begin(), ids.end(), first);
    return ids;
}

/// The first input of each sequence of an epoch, in the order of the epoch.
std::vector<std::int32_t> starts_of_epoch(BatchSampler& sampler) {
    std::vector<std::int32_t> starts;
    while (std::cmp_less(starts.size(), sampler.windows_per_epoch())) {
        const Batch batch = sampler.next();
        for (std::int64_t i = 0; i < batch.sequences; ++i) {
            starts.push_back(batch.inputs[static_cast<std::size_t>(i * batch.seq)]);
        }
    }
    return starts;
}

template <typename Entry>
std::vector<Entry> sorted(std::vector<Entry> entries) {
    std::sort(entries.begin(), entries.end());
    return entries;
}

}  // namespace

TEST_CASE("shuffled order: is a permutation for every count", "[data]") {
    for (std::int64_t count = 1; count <= 300; ++count) {
        std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
        std::iota(expected.begin(), expected.end(), 0);
        INFO("count " << count);
        REQUIRE(sorted(order_of(count, 7)) == expected);
    }
    CHECK_THROWS_AS(ShuffledOrder(0, 1), InternalError);
}

TEST_CASE("shuffled order: stays in range, without repeats, for billions of entries", "[data]") {
    const std::int64_t count = 5'000'000'021;
    const ShuffledOrder order(count, 3);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < 10'000; ++i) {
        const std::int64_t entry = order(i * 499'999);
        REQUIRE(entry >= 0);
        REQUIRE(entry < count);
        seen.insert(entry);
    }
    CHECK(seen.size() == 10'000);
}

TEST_CASE("shuffled order: every entry comes first about equally often", "[data]") {
    // 10 entries, 20000 keys: expectation 2000 each, standard deviation 42; six of them allowed.
    std::vector<int> first(10, 0);
    for (std::uint64_t key = 0; key < 20'000; ++key) {
        ++first[static_cast<std::size_t>(ShuffledOrder(10, mixed_bits(key))(0))];
    }
    for (const int count : first) CHECK(std::abs(count - 2000) < 6 * 42);
}

TEST_CASE("shuffled order: is the same on every platform", "[data]") {
    // The first output of SplitMix64 with seed 0, as published with it.
    CHECK(mixed_bits(0) == 0xE220A8397B1DCDAFU);
    CHECK(order_of(8, 1) == order_of(8, 1));
    CHECK(order_of(100, 1) != order_of(100, 2));
}

TEST_CASE("batches: targets are the inputs shifted by one, windows tile each shard", "[data]") {
    const TempFolder temp;
    // Shard a: 9 tokens = 2 windows of 4 and the last target; b: 8 tokens = 1 window, 3 left over.
    const std::string a = temp.write_numbers("a.bin", rising(0, 9));
    const std::string b = temp.write_numbers("b.bin", rising(100, 8));
    BatchSampler sampler(open_tokens({a, b}, 200), 3, 4, 1);
    REQUIRE(sampler.windows_per_epoch() == 3);
    const Batch batch = sampler.next();
    CHECK(sorted(batch.inputs) ==
          std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 102, 103});
    REQUIRE(batch.targets.size() == batch.inputs.size());
    for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
        CHECK(batch.targets[i] == batch.inputs[i] + 1);
    }
    CHECK(sampler.position() == 3);
}

TEST_CASE("batches: an epoch visits every window once, in an order of its own", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", rising(0, 201));
    const auto sampler_of = [&](std::uint64_t seed) {
        return BatchSampler(open_tokens({file}, 300), 5, 2, seed);
    };
    BatchSampler sampler = sampler_of(1);
    std::vector<std::int32_t> expected(100);
    for (std::size_t i = 0; i < 100; ++i) expected[i] = static_cast<std::int32_t>(2 * i);
    const auto first = starts_of_epoch(sampler);
    const auto second = starts_of_epoch(sampler);
    CHECK(sorted(first) == expected);
    CHECK(sorted(second) == expected);
    CHECK(first != expected);
    CHECK(first != second);
    BatchSampler same = sampler_of(1);
    BatchSampler other = sampler_of(2);
    CHECK(starts_of_epoch(same) == first);
    CHECK(starts_of_epoch(other) != first);
}

TEST_CASE("batches: the position alone resumes training, with any batch size", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", rising(0, 50));
    const auto sampler_of = [&](std::int64_t sequences) {
        return BatchSampler(open_tokens({file}, 300), sequences, 7, 5);
    };
    BatchSampler whole = sampler_of(3);  // 7 windows an epoch: batches reach over its end
    for (int i = 0; i < 4; ++i) whole.next();
    BatchSampler resumed = sampler_of(3);
    resumed.seek(whole.position());
    BatchSampler single = sampler_of(1);
    single.seek(whole.position());
    for (int i = 0; i < 10; ++i) {
        const Batch expected = whole.next();
        const Batch batch = resumed.next();
        CHECK(batch.position == expected.position);
        REQUIRE(batch.inputs == expected.inputs);
        REQUIRE(batch.targets == expected.targets);
        std::vector<std::int32_t> one_by_one;
        for (int k = 0; k < 3; ++k) {
            const Batch sequence = single.next();
            one_by_one.insert(one_by_one.end(), sequence.inputs.begin(), sequence.inputs.end());
        }
        REQUIRE(one_by_one == expected.inputs);
    }
    whole.seek(0);
    CHECK(whole.next().inputs == sampler_of(3).next().inputs);
    CHECK_THROWS_AS(whole.seek(-1), InternalError);
}

TEST_CASE("batches: a shard shorter than a sequence is refused", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", rising(0, 8));
    CHECK(BatchSampler(open_tokens({file}, 10), 1, 7, 0).windows_per_epoch() == 1);
    CHECK(input_error_of([&] { BatchSampler(open_tokens({file}, 10), 1, 8, 0); }) ==
          file +
              ": has 8 tokens, expected at least 9 for one sequence of 8 and its next token; "
              "give a longer file or a smaller --seq");
}

TEST_CASE("batches: an id outside the vocabulary is an error, and the position stays", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", rising(0, 9));
    BatchSampler sampler(open_tokens({file}, 8), 1, 8, 0);
    CHECK_THAT(input_error_of([&] { sampler.next(); }),
               ContainsSubstring("token 8 (byte 16) is 8, expected less than the vocabulary of 8"));
    CHECK(sampler.position() == 0);
}

TEST_CASE("batches: targets that the mask hides are -1, inputs stay", "[data]") {
    const TempFolder temp;
    const std::string file = temp.write_numbers("a.bin", rising(10, 5));
    temp.write("a.bin.mask", std::string("\1\0\1\0\1", 5));
    BatchSampler sampler(open_tokens({file}, 20), 1, 4, 0);
    const Batch batch = sampler.next();
    CHECK(batch.inputs == std::vector<std::int32_t>{10, 11, 12, 13});
    CHECK(batch.targets == std::vector<std::int32_t>{-1, 12, -1, 14});
}
