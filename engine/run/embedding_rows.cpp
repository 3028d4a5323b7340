#include "engine/run/embedding_rows.h"

#include <algorithm>
#include <numeric>

#include "sim/base/units.h"

namespace sluice {
namespace {

constexpr std::int64_t kRowGrain = 32;

}  // namespace

EmbeddingRows::EmbeddingRows(ThreadPool& pool, ParameterBlock table, std::int64_t vocabulary,
                             std::int64_t hidden, std::int64_t most_tokens, float* sums)
    : pool_(pool), table_(table), vocabulary_(vocabulary), hidden_(hidden), sums_(sums) {
    for (Index& index : indices_) {
        index.place.assign(static_cast<std::size_t>(vocabulary), -1);
        index.used_next.assign(static_cast<std::size_t>(vocabulary), 0);
        index.order.reserve(static_cast<std::size_t>(most_tokens));
        index.rows.reserve(static_cast<std::size_t>(std::min(vocabulary, most_tokens)));
    }
}

std::int64_t EmbeddingRows::sum_elements(std::int64_t vocabulary, std::int64_t hidden,
                                         std::int64_t most_tokens) {
    return std::min(vocabulary, most_tokens) * hidden;
}

void EmbeddingRows::begin_step(std::int64_t step, std::span<const std::int32_t> tokens,
                               std::span<const std::int32_t> next) {
    Index& index = index_of(step);
    for (const RowTokens& row : index.rows) index.place[static_cast<std::size_t>(row.row)] = -1;
    index.rows.clear();
    for (const std::int32_t token : tokens) {
        std::int32_t& place = index.place[static_cast<std::size_t>(token)];
        if (place < 0) {
            place = static_cast<std::int32_t>(index.rows.size());
            index.rows.push_back({token, 0, 0});
        }
        ++index.rows[static_cast<std::size_t>(place)].end;  // counts, for now
    }
    std::int32_t at = 0;
    for (RowTokens& row : index.rows) {
        const std::int32_t count = row.end;
        row.begin = row.end = at;
        at += count;
    }
    index.order.resize(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::int32_t place = index.place[static_cast<std::size_t>(tokens[i])];
        RowTokens& row = index.rows[static_cast<std::size_t>(place)];
        index.order[static_cast<std::size_t>(row.end++)] = static_cast<std::int32_t>(i);
    }
    std::fill(index.used_next.begin(), index.used_next.end(), 0);
    for (const std::int32_t token : next) index.used_next[static_cast<std::size_t>(token)] = 1;
}

TokenRows EmbeddingRows::rows(std::int64_t step) {
    const Index& index = index_of(step);
    return {index.rows.data(), static_cast<std::int64_t>(index.rows.size()), index.order.data()};
}

void EmbeddingRows::gather(std::span<const std::int32_t> tokens, Matrix rows) const {
    pool_.parallel_for(static_cast<std::int64_t>(tokens.size()), kRowGrain,
                       [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t i = begin; i < end; ++i) {
                               copy_row(
                                   rows.row_range(i, 1),
                                   table_.high + tokens[static_cast<std::size_t>(i)] * hidden_);
                           }
                       });
}

double EmbeddingRows::scatter(std::int64_t step, Matrix gradients,
                              const std::uint16_t* head_gradient) {
    const Index& index = index_of(step);
    // Also in pieces of a row, since a few tokens may make up most of a batch.
    const std::int64_t pieces = (hidden_ + kRowPiece - 1) / kRowPiece;
    const std::int64_t count = static_cast<std::int64_t>(index.rows.size()) * pieces;
    std::vector<double> squares(static_cast<std::size_t>(count));
    pool_.parallel_for(count, 1, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::int64_t place = i / pieces, begin = i % pieces * kRowPiece;
            const RowTokens& row = index.rows[static_cast<std::size_t>(place)];
            squares[static_cast<std::size_t>(i)] =
                sum_row(sums_ + place * hidden_, row, index.order.data(), begin,
                        std::min(hidden_, begin + kRowPiece), gradients,
                        head_gradient == nullptr ? nullptr : head_gradient + row.row * hidden_);
        }
    });
    // In order, so that the result is the same every time.
    return std::accumulate(squares.begin(), squares.end(), 0.0);
}

void EmbeddingRows::update(std::int64_t step, UpdatePass pass, const AdamWStep& adam,
                           const std::uint16_t* head_gradient, bool next_rows) {
    const Index& index = index_of(step);
    const auto update_row = [&](std::int64_t row) {
        const std::int32_t place = index.place[static_cast<std::size_t>(row)];
        GradientRange gradient;
        if (head_gradient != nullptr) gradient.bf16 = head_gradient + row * hidden_;
        if (place >= 0) gradient.fp32 = sums_ + place * hidden_;
        adamw_range(pass, adam, table_, row * hidden_, (row + 1) * hidden_, true, gradient);
    };
    pool_.parallel_for(vocabulary_, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row)
            if ((index.used_next[static_cast<std::size_t>(row)] != 0) == next_rows) update_row(row);
    });
}

}  // namespace sluice
