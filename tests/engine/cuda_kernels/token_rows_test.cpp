// Does the GPU gather and sum the embedding's rows as the processor does?
#include "engine/kernels/token_rows.h"

#include <random>

#include "tests/engine/cuda_kernels/check_cases.h"
#include "tests/engine/cuda_kernels/device_matrix.h"

using namespace sluice;

namespace {

constexpr std::int64_t kVocabulary = 301, kTokens = 700;

std::vector<std::uint16_t> random_bf16(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
    for (std::uint16_t& value : values) value = split_master(normal(random)).high;
    return values;
}

/// Half of the tokens are token 5, as the most frequent words make up much of a text.
std::vector<std::int32_t> random_tokens() {
    std::mt19937 random(3);
    std::vector<std::int32_t> tokens(kTokens);
    for (std::int32_t& token : tokens)
        token = random() % 2 == 0 ? 5 : static_cast<std::int32_t>(random() % kVocabulary);
    return tokens;
}

/// The tokens by row.
struct Index {
    std::vector<RowTokens> rows;
    std::vector<std::int32_t> order;
};
Index index_of(const std::vector<std::int32_t>& tokens) {
    Index index;
    for (std::int32_t row = 0; row < kVocabulary; ++row) {
        const auto begin = static_cast<std::int32_t>(index.order.size());
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (tokens[i] == row) index.order.push_back(static_cast<std::int32_t>(i));
        const auto end = static_cast<std::int32_t>(index.order.size());
        if (end > begin) index.rows.push_back({row, begin, end});
    }
    return index;
}

}  // namespace

TEST_CASE("cuda token rows: gathered and summed to the processor's bits", "[cuda_kernels]") {
    if (!has_gpu()) return;
    const std::vector<std::int32_t> tokens = random_tokens();
    const Index index = index_of(tokens);
    const DeviceArray<std::int32_t> there(tokens), order(index.order);
    const DeviceArray<RowTokens> rows(index.rows);
    for (const std::int64_t hidden : {3584, 40, 37}) {
        const std::vector<std::uint16_t> table = random_bf16(kVocabulary * hidden, 1);
        std::vector<std::uint16_t> gradient = random_bf16(kTokens * hidden, 2);
        const DeviceArray<std::uint16_t> table_there(table), gradient_there(gradient);
        const DeviceArray<std::uint16_t> out(
            std::vector<std::uint16_t>(static_cast<std::size_t>(kTokens * hidden)));
        gpu().kernels().gather_rows({out.data(), DType::bf16, kTokens, hidden}, table_there.data(),
                                    there.data());
        const std::vector<std::uint16_t> gathered = out.read();
        bool equal = true;
        for (std::int64_t i = 0; i < kTokens * hidden; ++i)
            equal = equal &&
                    gathered[static_cast<std::size_t>(i)] ==
                        table[static_cast<std::size_t>(
                            tokens[static_cast<std::size_t>(i / hidden)] * hidden + i % hidden)];
        CHECK(equal);
        for (const bool tied : {false, true}) {
            std::vector<float> expected(static_cast<std::size_t>(kVocabulary * hidden), -1);
            const DeviceArray<float> sums(expected);
            const DeviceArray<double> norm({2});
            double square = 2;
            for (const RowTokens& row : index.rows)
                square += sum_row(expected.data() + row.row * hidden, row, index.order.data(), 0,
                                  hidden, {gradient.data(), DType::bf16, kTokens, hidden},
                                  tied ? table.data() + row.row * hidden : nullptr);
            gpu().kernels().sum_rows(
                sums.data(), {gradient_there.data(), DType::bf16, kTokens, hidden},
                {rows.data(), static_cast<std::int64_t>(index.rows.size()), order.data()},
                tied ? table_there.data() : nullptr, norm.data());
            CAPTURE(hidden, tied);
            CHECK((sums.read() == expected));
            CHECK(norm.read().front() == Approx(square).epsilon(1e-12));
        }
    }
}
