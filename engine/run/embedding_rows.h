// Which rows of the token embedding does a batch use? If the embedding stays on the host: how do
// rows go to the device, and how are their gradients summed by row?
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/kernels/token_rows.h"
#include "engine/optimizer/adamw.h"

namespace sluice {

class EmbeddingRows {
  public:
    /// `table` is (vocabulary, hidden); `most_tokens` in a batch. `sums` may be null if nothing is
    /// scattered.
    EmbeddingRows(ThreadPool& pool, ParameterBlock table, std::int64_t vocabulary,
                  std::int64_t hidden, std::int64_t most_tokens, float* sums);
    /// Elements of the memory that `sums` points to.
    static std::int64_t sum_elements(std::int64_t vocabulary, std::int64_t hidden,
                                     std::int64_t most_tokens);

    /// Sets the rows that a step's batch and the next one use. While a step is prepared, the last
    /// updates of the previous one may still run: `step` distinguishes the two, here and below.
    void begin_step(std::int64_t step, std::span<const std::int32_t> tokens,
                    std::span<const std::int32_t> next);

    /// Until begin_step() of the step after the next.
    TokenRows rows(std::int64_t step);

    /// rows (tokens, hidden) of the table's upper plane, in the type of `rows`.
    void gather(std::span<const std::int32_t> tokens, Matrix rows) const;
    /// Sums gradients of the batch's rows by token. In the tied case, `head_gradient` (vocabulary,
    /// hidden) bf16 is added. Returns the increase of the square of the gradient's norm, in which
    /// `head_gradient` is already counted.
    double scatter(std::int64_t step, Matrix gradients, const std::uint16_t* head_gradient);
    /// Updates the rows that the next batch uses, or all others.
    void update(std::int64_t step, UpdatePass pass, const AdamWStep& adam,
                const std::uint16_t* head_gradient, bool next_rows);

  private:
    struct Index {
        std::vector<std::int32_t> place;  ///< by row of the table: its index in rows, or -1
        std::vector<char> used_next;      ///< by row of the table
        std::vector<std::int32_t> order;  ///< tokens of the batch, grouped by row, in order
        std::vector<RowTokens> rows;
    };
    Index& index_of(std::int64_t step) { return indices_[static_cast<std::size_t>(step % 2)]; }

    ThreadPool& pool_;
    ParameterBlock table_;
    std::int64_t vocabulary_, hidden_;
    float* sums_;  ///< (rows in use, hidden)
    std::array<Index, 2> indices_;
};

}  // namespace sluice
