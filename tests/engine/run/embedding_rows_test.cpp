#include "engine/run/embedding_rows.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "sim/base/units.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

float from_bf16(std::uint16_t bits) { return join_master({bits, 0}); }
std::uint16_t to_bf16(float value) { return split_master(value).high; }

/// A table with moments of random values, in memory of its own.
class Table {
  public:
    Table(std::int64_t vocabulary, std::int64_t hidden, int state_bytes, unsigned seed)
        : count_(vocabulary * hidden), state_bytes_(state_bytes) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal(0, 0.02F);
        const auto n = static_cast<std::size_t>(count_);
        const StatePrecision& precision = state_precision(state_bytes);
        high_.resize(n);
        low_.resize(n * static_cast<std::size_t>(precision.low_bytes));
        for (std::int64_t i = 0; i < count_; ++i) set_master(block(), i, normal(random));
        // Moments of no earlier step: all kinds of them begin at zero.
        const auto moment = static_cast<std::size_t>(precision.moment_bytes);
        first_.resize(n * moment);
        second_.resize(n * moment);
        first_scale_.resize(n / kMomentBlock + 1);
        second_scale_.resize(n / kMomentBlock + 1);
    }
    ParameterBlock block() {
        const bool scaled = state_precision(state_bytes_).has_scales();
        return {high_.data(),
                low_.data(),
                first_.data(),
                second_.data(),
                scaled ? first_scale_.data() : nullptr,
                scaled ? second_scale_.data() : nullptr,
                count_,
                state_bytes_};
    }
    bool operator==(const Table&) const = default;

  private:
    std::int64_t count_;
    int state_bytes_;
    std::vector<std::uint16_t> high_;
    std::vector<char> low_, first_, second_;
    std::vector<float> first_scale_, second_scale_;
};

/// A batch's tokens, their gradients in a type, and the head's gradient.
struct Batch {
    std::vector<std::int32_t> tokens, next;
    std::vector<float> fp32;
    std::vector<std::uint16_t> bf16, head;
    std::int64_t hidden;

    Batch(std::int64_t count, std::int64_t vocabulary, std::int64_t hidden_, unsigned seed)
        : hidden(hidden_) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        for (std::int64_t i = 0; i < count; ++i) {
            // The first token makes up half of the batch, as the most frequent words do.
            tokens.push_back(
                i % 2 == 0 ? 0 : static_cast<std::int32_t>(random() % unsigned(vocabulary)));
            next.push_back(static_cast<std::int32_t>(random() % unsigned(vocabulary)));
        }
        for (std::int64_t i = 0; i < count * hidden; ++i) {
            bf16.push_back(to_bf16(normal(random)));
            fp32.push_back(normal(random));
        }
        for (std::int64_t i = 0; i < vocabulary * hidden; ++i)
            head.push_back(to_bf16(normal(random)));
    }
    float gradient(DType type, std::size_t i) const {
        return type == DType::fp32 ? fp32[i] : from_bf16(bf16[i]);
    }
    Matrix matrix(DType type) {
        void* const data = type == DType::fp32 ? static_cast<void*>(fp32.data()) : bf16.data();
        return {data, type, static_cast<std::int64_t>(tokens.size()), hidden};
    }
    /// (vocabulary, hidden): gradients summed token by token.
    std::vector<float> summed(DType type, std::int64_t vocabulary) const {
        std::vector<float> sums(static_cast<std::size_t>(vocabulary * hidden));
        for (std::size_t i = 0; i < tokens.size() * static_cast<std::size_t>(hidden); ++i) {
            const std::size_t row = i / static_cast<std::size_t>(hidden);
            sums[static_cast<std::size_t>(tokens[row] * hidden) +
                 i % static_cast<std::size_t>(hidden)] += gradient(type, i);
        }
        return sums;
    }
};

struct Shape {
    std::int64_t vocabulary, hidden, tokens;
};
constexpr Shape kShapes[] = {{50, 40, 64}, {301, 300, 33}, {7, 520, 40}, {1000, 8, 1}};

}  // namespace

TEST_CASE("embedding rows: gather gives the upper plane of each token's row", "[run]") {
    ThreadPool pool(2);
    for (const auto& [vocabulary, hidden, tokens] : kShapes) {
        Table table(vocabulary, hidden, 12, 1);
        Batch batch(tokens, vocabulary, hidden, 2);
        EmbeddingRows rows(pool, table.block(), vocabulary, hidden, tokens, nullptr);
        const auto n = static_cast<std::size_t>(tokens * hidden);
        std::vector<float> fp32(n);
        std::vector<std::uint16_t> bf16(n);
        rows.gather(batch.tokens, {fp32.data(), DType::fp32, tokens, hidden});
        rows.gather(batch.tokens, {bf16.data(), DType::bf16, tokens, hidden});
        bool equal = true;
        for (std::int64_t i = 0; i < tokens * hidden; ++i) {
            const std::int32_t token = batch.tokens[static_cast<std::size_t>(i / hidden)];
            const std::uint16_t expected = table.block().high[token * hidden + i % hidden];
            equal = equal && bf16[static_cast<std::size_t>(i)] == expected &&
                    fp32[static_cast<std::size_t>(i)] == from_bf16(expected);
        }
        CHECK(equal);
    }
}

TEST_CASE("embedding rows: scatter adds to the norm what a loop over the tokens does", "[run]") {
    ThreadPool pool(2);
    for (const auto& [vocabulary, hidden, tokens] : kShapes) {
        for (const DType type : {DType::fp32, DType::bf16}) {
            for (const bool tied : {false, true}) {
                CAPTURE(vocabulary, hidden, tokens, tied);
                Table table(vocabulary, hidden, 12, 1);
                Batch batch(tokens, vocabulary, hidden, 2);
                std::vector<float> sums(static_cast<std::size_t>(
                    EmbeddingRows::sum_elements(vocabulary, hidden, tokens)));
                EmbeddingRows rows(pool, table.block(), vocabulary, hidden, tokens, sums.data());
                double expected = 0;
                const std::vector<float> dense = batch.summed(type, vocabulary);
                for (std::size_t i = 0; i < dense.size(); ++i) {
                    const double head = tied ? from_bf16(batch.head[i]) : 0;
                    const double all = head + static_cast<double>(dense[i]);
                    expected += all * all - head * head;
                }
                // Twice in each of the two places for a step: nothing stays from before.
                for (std::int64_t step = 0; step < 4; ++step) {
                    rows.begin_step(step, batch.tokens, batch.next);
                    const double square =
                        rows.scatter(step, batch.matrix(type), tied ? batch.head.data() : nullptr);
                    CHECK(square == Approx(expected).epsilon(1e-12));
                }
            }
        }
    }
}

TEST_CASE("embedding rows: rows of the next batch, then the others: the update of the whole table",
          "[run]") {
    for (const int state_bytes : {12, 8, 6, 5, 4}) {
        for (const auto& [vocabulary, hidden, tokens] :
             {Shape{50, 128, 64}, {301, 256, 33}, {7, 512, 40}}) {
            for (const bool tied : {false, true}) {
                CAPTURE(state_bytes, vocabulary, hidden, tied);
                ThreadPool pool(3);
                Table table(vocabulary, hidden, state_bytes, 1), whole = table;
                std::vector<float> sums(static_cast<std::size_t>(
                    EmbeddingRows::sum_elements(vocabulary, hidden, tokens)));
                EmbeddingRows rows(pool, table.block(), vocabulary, hidden, tokens, sums.data());
                const std::vector<DecayRange> ranges = {{0, vocabulary * hidden, true}};
                AdamWStep adam;
                for (std::int64_t step = 0; step < 3; ++step) {
                    Batch batch(tokens, vocabulary, hidden, 10 + static_cast<unsigned>(step));
                    const std::uint16_t* const head = tied ? batch.head.data() : nullptr;
                    adam.step = step + 1;
                    rows.begin_step(step, batch.tokens, batch.next);
                    rows.scatter(step, batch.matrix(DType::bf16), head);
                    const Table before = table;
                    rows.update(step, UpdatePass::update, adam, head, true);
                    CHECK_FALSE(table == before);
                    rows.update(step, UpdatePass::update, adam, head, false);
                    const std::vector<float> dense = batch.summed(DType::bf16, vocabulary);
                    adamw(pool, UpdatePass::update, adam, whole.block(), ranges,
                          {.bf16 = head, .fp32 = dense.data()});
                    CHECK(table == whole);
                }
            }
        }
    }
}

TEST_CASE("embedding rows: the first update makes ready exactly the rows of the next batch",
          "[run]") {
    ThreadPool pool(2);
    const std::int64_t vocabulary = 40, hidden = 128;
    Table table(vocabulary, hidden, 12, 1);
    Batch batch(16, vocabulary, hidden, 2);
    std::vector<float> sums(static_cast<std::size_t>(16 * hidden));
    EmbeddingRows rows(pool, table.block(), vocabulary, hidden, 16, sums.data());
    rows.begin_step(0, batch.tokens, batch.next);
    rows.scatter(0, batch.matrix(DType::fp32), nullptr);
    Table before = table;
    rows.update(0, UpdatePass::update, AdamWStep{}, nullptr, true);
    for (std::int32_t row = 0; row < vocabulary; ++row) {
        CAPTURE(row);
        const bool next = std::find(batch.next.begin(), batch.next.end(), row) != batch.next.end();
        const auto low_of = [&](Table& one) {
            return static_cast<const char*>(one.block().low) + row * hidden * kBf16;
        };
        const char *const was = low_of(before), *const is = low_of(table);
        CHECK((std::memcmp(was, is, static_cast<std::size_t>(kBf16 * hidden)) != 0) == next);
    }
}
