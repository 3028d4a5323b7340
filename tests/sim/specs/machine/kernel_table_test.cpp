// Which table has a kernel's time, which features has its trend, and how far do measured kernels
// reach? By hand.
#include "sim/specs/machine/kernel_table.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/sim/specs/machine/measured_kernels.h"

namespace sluice {
namespace {

using Id = KernelTableId;
using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

void check_close(const Numbers& actual, const Numbers& expected) {
    REQUIRE(actual.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        CHECK(actual[i] == Approx(expected[i]).epsilon(1e-12));
    }
}

Id id_at(int i) { return static_cast<Id>(i); }

}  // namespace

TEST_CASE("kernel table: names are those of a profile's kernels section, in its order",
          "[machine]") {
    const char* const expected[] = {"gemm_forward",
                                    "gemm_input_gradient",
                                    "gemm_weight_gradient",
                                    "attention_forward",
                                    "attention_backward",
                                    "rms_norm",
                                    "rms_norm_backward",
                                    "head_norm",
                                    "head_norm_backward",
                                    "rotary",
                                    "swiglu",
                                    "swiglu_and_gradient",
                                    "bias_backward",
                                    "cross_entropy",
                                    "sum_squares",
                                    "round_to_bf16"};
    for (int i = 0; i < kKernelTables; ++i) {
        CHECK(std::string(kernel_table_name(id_at(i))) == expected[i]);
        const char* of_case = i < 3 ? "gemm" : i < 5 ? "attention" : "memory_bound";
        CHECK(std::string(kernel_table_case(id_at(i))) == of_case);
    }
}

TEST_CASE("kernel table: columns and features of each kind", "[machine]") {
    for (int i = 0; i < kKernelTables; ++i) {
        CAPTURE(i);
        const Names& columns = kernel_columns(id_at(i));
        const Names& features = kernel_feature_names(id_at(i));
        if (i < 3) {
            CHECK(columns == Names{"m", "n", "k", "added"});
            CHECK(features == Names{"us", "us_per_wave_of_128x256", "us_per_gflop",
                                    "us_per_gflop_in_waves_of_128x128",
                                    "us_per_gflop_in_waves_of_128x256",
                                    "us_per_gflop_in_waves_of_256x128", "us_per_mb_in",
                                    "us_per_mb_out", "us_per_mb_added", "us_per_mb_or_100_mflop",
                                    "us_per_mb_or_200_mflop", "us_per_mb_or_400_mflop"});
        } else if (i < 5) {
            CHECK(columns == Names{"sequences", "sequence", "heads", "kv_heads", "head_dim"});
            CHECK(features == Names{"us", "us_per_gflop", "us_per_giga_scores",
                                    "us_per_million_query_elements",
                                    "us_per_million_key_elements"});
        } else {
            CHECK(columns == Names{"rows", "columns"});
            CHECK(features == Names{"us", "us_per_thousand_rows", "us_per_million_elements"});
        }
    }
}

TEST_CASE("kernel table: every kind has as many features as names of them", "[machine]") {
    for (int i = 0; i < kKernelTables; ++i) {
        CAPTURE(i);
        Numbers row(kernel_columns(id_at(i)).size(), 512);
        if (i < 3) row.back() = 1;
        CHECK(kernel_features(id_at(i), kernel_of_row(id_at(i), row), 132).size() ==
              kernel_feature_names(id_at(i)).size());
    }
}

TEST_CASE("kernel table: features of a product by hand", "[machine]") {
    // 256 x 384 x 512: 0.100663296 GFLOP. A tile of 128 x 128 is 2 x 128 x 128 x 512 = 0.016777216
    // GFLOP. On 3 multiprocessors: 2 x 3 such tiles are two waves of 3; of 128 x 256, twice as
    // large, 2 x 2 are two waves too; of 256 x 128, 1 x 3 are one. In: 2 (256 + 384) 512 B; out: 2
    // x 256 x 384 B, and the same read for what is added.
    const Kernel product = gemm("test", GemmRole::forward, 256, 384, 512);
    const double gflop = 0.100663296, tile = 0.016777216, in = 0.65536, out = 0.196608;
    // 100.663296 MFLOP at 100, 200 and 400 FLOPs a byte: as 1.00663296, 0.50331648 and 0.25165824
    // MB, of which the last two are less than what moves.
    const double at_100 = 1.00663296, moved = in + out;
    const Numbers plain = kernel_features(Id::gemm_forward, product, 3);
    check_close(plain, {1, 2, gflop, 6 * tile, 6 * 2 * tile, 3 * 2 * tile, in, out, 0, at_100,
                        moved, moved});
    const Numbers added = kernel_features(Id::gemm_forward, with_addend(product), 3);
    check_close(added, {1, 2, gflop, 6 * tile, 6 * 2 * tile, 3 * 2 * tile, in, out, out,
                        moved + out, moved + out, moved + out});
    // The sum of a weight gradient: 6 bytes an element.
    const Kernel weights = with_addend(gemm("test", GemmRole::weight_gradient, 256, 384, 512));
    check_close(kernel_features(Id::gemm_weight_gradient, weights, 3),
                {1, 2, gflop, 6 * tile, 6 * 2 * tile, 3 * 2 * tile, in, out, 3 * out,
                 moved + 3 * out, moved + 3 * out, moved + 3 * out});
    // Three experts share waves: 18 tiles are six of 3; 12 are four, 9 are three.
    const Kernel experts = gemm("test", GemmRole::forward, 256, 384, 512, 3);
    check_close(kernel_features(Id::gemm_forward, experts, 3),
                {3, 4, 3 * gflop, 18 * tile, 12 * 2 * tile, 9 * 2 * tile, 3 * in, 3 * out, 0,
                 3 * at_100, 3 * moved, 3 * moved});
}

TEST_CASE("kernel table: a wave takes as long however few tiles it has, a tile however small",
          "[machine]") {
    // Waves of 128 x 256, and GFLOPs in waves of 128 x 128, 128 x 256 and 256 x 128.
    const auto waves = [](std::int64_t m, std::int64_t n, double multiprocessors) {
        const Kernel product = gemm("test", GemmRole::forward, m, n, 512);
        const Numbers all = kernel_features(Id::gemm_forward, product, multiprocessors);
        return Numbers{all[1], all[3], all[4], all[5]};
    };
    const double tile = 0.016777216;
    // 256 x 384: 6, 4 and 3 tiles are one wave of 12 each.
    check_close(waves(256, 384, 12), {1, 12 * tile, 24 * tile, 24 * tile});
    check_close(waves(1, 1, 12), {1, 12 * tile, 24 * tile, 24 * tile});
    // One row and column more: 3 x 4, 3 x 2 and 2 x 4 tiles, on 5 multiprocessors three waves, two
    // and two.
    check_close(waves(257, 385, 5), {2, 15 * tile, 20 * tile, 20 * tile});
    // Where a profile does not know how many there are, every tile counts and none idles.
    check_close(waves(257, 385, 0), {6, 12 * tile, 12 * tile, 16 * tile});
}

TEST_CASE("kernel table: features of attention by hand", "[machine]") {
    // 2 sequences of 1024, 8 heads of 64, 2 key heads: 1024 x 1024 / 2 x 8 x 2 = 8388608 scores,
    // 4 x 64 FLOPs each. 2048 tokens x 512 of queries, x 128 of keys.
    const AttentionSize size = {2, 1024, 8, 2, 64, 64};
    check_close(kernel_features(Id::attention_forward, attention_forward(size), 132),
                {1, 2.147483648, 0.008388608, 1.048576, 0.262144});
    check_close(kernel_features(Id::attention_backward, attention_backward(size), 132),
                {1, 2.5 * 2.147483648, 2.5 * 0.008388608, 1.048576, 0.262144});
}

TEST_CASE("kernel table: features of work bound by memory by hand", "[machine]") {
    const Kernel kernel = elementwise("test", MemoryBoundWork::swiglu, 2000, 3000, 6);
    check_close(kernel_features(Id::swiglu, kernel, 132), {1, 2, 6});
}

TEST_CASE("kernel table: coordinates are doublings, an addition three of them away", "[machine]") {
    const Kernel product = gemm("test", GemmRole::forward, 256, 512, 1024);
    check_close(kernel_coordinates(Id::gemm_forward, product), {8, 9, 10, 0});
    check_close(kernel_coordinates(Id::gemm_forward, with_addend(product)), {8, 9, 10, 3});
    check_close(
        kernel_coordinates(Id::attention_forward, attention_forward({2, 1024, 8, 4, 64, 64})),
        {1, 10, 3, 2, 6});
    check_close(
        kernel_coordinates(Id::rotary, elementwise("test", MemoryBoundWork::rotary, 2048, 4096, 4)),
        {11, 12});
}

TEST_CASE("kernel table: a row's kernel is looked up in the row's table and has its shape",
          "[machine]") {
    for (int i = 0; i < kKernelTables; ++i) {
        CAPTURE(i);
        const Id id = id_at(i);
        if (i < 3) {
            for (const double added : {0., 1.}) {
                const Kernel kernel = kernel_of_row(id, Numbers{256, 384, 512, added});
                CHECK(kernel_table_of(kernel) == id);
                CHECK(kernel.m == 256);
                CHECK(kernel.n == 384);
                CHECK(kernel.k == 512);
                CHECK(kernel.added == (added == 1));
                CHECK(kernel.flops == 2.0 * 256 * 384 * 512);
            }
        } else if (i < 5) {
            const Kernel kernel = kernel_of_row(id, Numbers{2, 1024, 8, 4, 64});
            CHECK(kernel_table_of(kernel) == id);
            check_close(kernel_coordinates(id, kernel), {1, 10, 3, 2, 6});
            CHECK(kernel.flops == (i == 3 ? 1 : 2.5) * 2147483648.0);
        } else {
            const Kernel kernel = kernel_of_row(id, Numbers{2048, 4096});
            CHECK(kernel_table_of(kernel) == id);
            CHECK(kernel.rows == 2048);
            CHECK(kernel.columns == 4096);
        }
    }
    CHECK_FALSE(kernel_table_of(memory_bound("permute tokens", 100)));
    CHECK(kernel_table_of(elementwise("rotary", MemoryBoundWork::rotary, 1, 1, 4)) == Id::rotary);
}

TEST_CASE("kernel table: without kernels nearby the time is the trend's", "[machine]") {
    // 10 us and 3 us a unit of the second feature: 22 us.
    CHECK(trend_only({10, 3}).time(Numbers{1, 4}, Numbers{0, 0}) == Approx(22e-6).epsilon(1e-12));
}

TEST_CASE("kernel table: a measured kernel corrects the trend there, and far away nothing",
          "[machine]") {
    KernelTable table = trend_only({10, 3});
    table.at = {{3, 4}};
    table.weight = {0.5};
    const auto correction = [&](const Numbers& at) {
        return table.time(Numbers{1, 4}, at) / 22e-6;
    };
    CHECK(correction({3, 4}) == Approx(std::exp(0.5)).epsilon(1e-12));
    // (0, 0) is 5 doublings away: exp(-5) = 0.006738 of the weight.
    CHECK(correction({0, 0}) == Approx(std::exp(0.5 * 0.006737946999)).epsilon(1e-10));
    CHECK(correction({103, 4}) == Approx(1).epsilon(1e-12));
    table.length = 2;  // 5 doublings are 2.5 lengths
    CHECK(correction({0, 0}) == Approx(std::exp(0.5 * std::exp(-2.5))).epsilon(1e-12));
    // Another one at the same place adds its weight.
    table.at.push_back({3, 4});
    table.weight.push_back(-0.2);
    CHECK(correction({3, 4}) == Approx(std::exp(0.3)).epsilon(1e-12));
}

TEST_CASE("kernel table: neighbours change the trend by no more than a factor of exp(3)",
          "[machine]") {
    KernelTable table = trend_only({10});
    table.at = {{0}, {0}};
    const auto us = [&](double a, double b) {
        table.weight = {a, b};
        return 1e6 * table.time(Numbers{1}, Numbers{0});
    };
    CHECK(us(2, 0.9) == Approx(10 * std::exp(2.9)).epsilon(1e-12));
    CHECK(us(2, 1.1) == Approx(10 * std::exp(3)).epsilon(1e-12));
    CHECK(us(100, 100) == Approx(10 * std::exp(3)).epsilon(1e-12));
    CHECK(us(-2, -0.9) == Approx(10 * std::exp(-2.9)).epsilon(1e-12));
    CHECK(us(-100, -100) == Approx(10 * std::exp(-3)).epsilon(1e-12));
    CHECK(us(100, -100) == Approx(10).epsilon(1e-12));  // of the sum, not of each
}

}  // namespace sluice
