#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/cpu_tensors.h"

namespace sluice::cpu {
namespace {

// 64: forward and backward of 8 sequences of 128 (4 heads of 64 elements) take 9.6 ms of one core,
// with 128 12.0 ms, with 256 17.5 ms: smaller blocks skip more of the keys after their queries.
constexpr std::int64_t kQueryBlock = 64;

/// Scores of a block that each thread computes at once, for as many key/value heads as that allows.
/// The backward pass keeps four times as much.
constexpr std::int64_t kScores = std::int64_t{1} << 18;

/// Queries [begin, end) of a sequence and the keys [first_key, end) that any of them sees.
struct Block {
    std::int64_t begin, end, first_key;
    std::int64_t queries() const { return end - begin; }
    std::int64_t keys() const { return end - first_key; }
};

/// Some heads of one sequence; dimensions: v key/value heads, g query heads that share one, s
/// positions, d elements. Block tensors have g x queries rows for each of v.
class Sequence {
  public:
    /// Key/value heads [first_head, first_head + heads). `documents`: their first positions, then
    /// the end of the sequence; it must outlive this.
    Sequence(const AttentionShape& shape, std::int64_t index,
             const std::vector<std::int64_t>& documents, std::int64_t first_head,
             std::int64_t heads)
        : shape_(shape),
          documents_(documents),
          group_(shape.heads / shape.kv_heads),
          first_row_(index * shape.sequence),
          first_head_(first_head),
          heads_(heads),
          scale_(1 / std::sqrt(static_cast<double>(shape.head_dim))) {}

    double scale() const { return scale_; }

    /// View (v, g, s, d) of the query heads of qkv, out, or their gradients.
    at::Tensor queries(const Matrix& m) const {
        return view_heads(rows(m), 0, shape_.heads, shape_.head_dim)
            .unflatten(1, {shape_.kv_heads, group_})
            .permute({1, 2, 0, 3})
            .narrow(0, first_head_, heads_);
    }
    /// Views (v, s, d).
    at::Tensor keys(const Matrix& qkv) const { return key_heads(qkv, shape_.heads); }
    at::Tensor values(const Matrix& qkv) const {
        return key_heads(qkv, shape_.heads + shape_.kv_heads);
    }
    /// View (v, g, s) of statistics (sequences, heads, sequence).
    at::Tensor statistics(const float* all) const {
        float* const first = const_cast<float*>(all) + first_row_ * shape_.heads;
        return at::from_blob(first, {shape_.kv_heads, group_, shape_.sequence}, at::kFloat)
            .narrow(0, first_head_, heads_);
    }

    /// (v, g x queries, keys), -infinity where a query does not see the key.
    at::Tensor scores(const Block& block, const at::Tensor& scaled_queries,
                      const at::Tensor& keys) const {
        at::Tensor result = at::bmm(scaled_queries, keys.transpose(1, 2));
        result.unflatten(1, {group_, block.queries()})
            .masked_fill_(unseen(block), -std::numeric_limits<float>::infinity());
        return result;
    }

    template <typename Function>
    void for_each_block(Function function) const {
        for (std::size_t i = 0; i + 1 < documents_.size(); ++i) {
            const std::int64_t first = documents_[i], end = documents_[i + 1];
            for (std::int64_t begin = first; begin < end; begin += kQueryBlock) {
                const std::int64_t first_key =
                    shape_.window > 0 ? std::max(first, begin - shape_.window + 1) : first;
                function(Block{begin, std::min(begin + kQueryBlock, end), first_key});
            }
        }
    }

  private:
    Matrix rows(const Matrix& m) const { return m.row_range(first_row_, shape_.sequence); }
    at::Tensor key_heads(const Matrix& qkv, std::int64_t first) const {
        return view_heads(rows(qkv), first + first_head_, heads_, shape_.head_dim).transpose(0, 1);
    }
    /// (queries, keys): true where the key is after the query or before its window.
    at::Tensor unseen(const Block& block) const {
        const at::Tensor query = at::arange(block.begin, block.end).unsqueeze(1);
        const at::Tensor key = at::arange(block.first_key, block.end);
        at::Tensor result = key > query;
        if (shape_.window > 0) result.logical_or_(key <= query - shape_.window);
        return result;
    }

    AttentionShape shape_;
    const std::vector<std::int64_t>& documents_;
    std::int64_t group_, first_row_, first_head_, heads_;
    double scale_;
};

/// First positions of the documents of a sequence, then its end.
std::vector<std::int64_t> document_positions(const AttentionShape& shape,
                                             const Documents& documents, std::int64_t index) {
    if (!documents.present()) return {0, shape.sequence};
    const std::int64_t first = index * shape.sequence;
    const std::int32_t* const end = documents.begins + documents.count;
    std::vector<std::int64_t> positions;
    for (const std::int32_t* begin = std::lower_bound(documents.begins, end, first);
         begin != end && *begin < first + shape.sequence; ++begin)
        positions.push_back(*begin - first);
    require(!positions.empty() && positions.front() == 0, "attention",
            "a document that begins with each sequence");
    positions.push_back(shape.sequence);
    const auto longer = [&](std::int64_t a, std::int64_t b) { return b - a > documents.longest; };
    require(std::adjacent_find(positions.begin(), positions.end(), longer) == positions.end(),
            "attention", "documents of at most the longest's tokens");
    return positions;
}

/// Calls function(Sequence) for all heads of all sequences.
template <typename Function>
void for_each_sequence(const AttentionShape& shape, const Documents& documents, Function function) {
    const std::int64_t scores =
        shape.heads / shape.kv_heads * std::min(kQueryBlock, shape.sequence) * shape.sequence;
    const std::int64_t most = std::max<std::int64_t>(1, at::get_num_threads() * kScores / scores);
    for (std::int64_t index = 0; index < shape.sequences; ++index) {
        const std::vector<std::int64_t> positions = document_positions(shape, documents, index);
        for (std::int64_t head = 0; head < shape.kv_heads; head += most)
            function(
                Sequence(shape, index, positions, head, std::min(most, shape.kv_heads - head)));
    }
}

/// fp32 rows (v, g x queries, ...) of the block, out of (v, g, s, ...).
at::Tensor block_rows(const at::Tensor& whole, const Block& block) {
    return fp32(whole.narrow(2, block.begin, block.queries())).flatten(1, 2);
}

/// Writes (v, g x queries, ...) back.
void store_rows(const at::Tensor& whole, const Block& block, const at::Tensor& rows) {
    const at::Tensor place = whole.narrow(2, block.begin, block.queries());
    store(place, rows.view(place.sizes()));
}

/// The block's keys or values (v, keys, d) out of (v, s, d).
at::Tensor block_keys(const at::Tensor& whole, const Block& block) {
    return whole.narrow(1, block.first_key, block.keys());
}

void require_shapes(const AttentionShape& shape, const Matrix& qkv, const Matrix& out) {
    require(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "attention",
            "heads to be a multiple of kv_heads");
    require(qkv.rows == shape.tokens() && qkv.columns == shape.qkv_width(), "attention",
            "qkv of (tokens, qkv_width)");
    require(out.rows == shape.tokens() && out.columns == shape.query_width(), "attention",
            "out of (tokens, query_width)");
}

}  // namespace

void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
               const Documents& documents) {
    require_shapes(shape, qkv, out);
    for_each_sequence(shape, documents, [&](const Sequence& sequence) {
        const at::Tensor queries = sequence.queries(qkv), outputs = sequence.queries(out);
        const at::Tensor keys = fp32(sequence.keys(qkv)), values = fp32(sequence.values(qkv));
        const at::Tensor log_sum_exps = sequence.statistics(statistics);
        sequence.for_each_block([&](const Block& block) {
            const at::Tensor scaled = block_rows(queries, block) * sequence.scale();
            const at::Tensor scores = sequence.scores(block, scaled, block_keys(keys, block));
            const at::Tensor largest = scores.amax(-1, true);
            const at::Tensor weights = scores.sub_(largest).exp_(), sum = weights.sum(-1, true);
            store_rows(outputs, block, at::bmm(weights, block_keys(values, block)).div_(sum));
            store_rows(log_sum_exps, block, sum.log().add_(largest));
        });
    });
}

void attention_backward(const AttentionShape& shape, Matrix qkv, const float* statistics,
                        Matrix dout, Matrix dqkv, const Documents& documents) {
    require_shapes(shape, qkv, dout);
    require_shapes(shape, dqkv, dout);
    for_each_sequence(shape, documents, [&](const Sequence& sequence) {
        const at::Tensor queries = sequence.queries(qkv), dqueries = sequence.queries(dqkv);
        const at::Tensor keys = fp32(sequence.keys(qkv)), values = fp32(sequence.values(qkv));
        const at::Tensor dkeys = at::zeros(keys.sizes(), at::kFloat);
        const at::Tensor dvalues = at::zeros(keys.sizes(), at::kFloat);
        const at::Tensor doutputs = sequence.queries(dout);
        const at::Tensor log_sum_exps = sequence.statistics(statistics);
        sequence.for_each_block([&](const Block& block) {
            const at::Tensor k = block_keys(keys, block), v = block_keys(values, block);
            const at::Tensor scaled = block_rows(queries, block) * sequence.scale();
            const at::Tensor dy = block_rows(doutputs, block);
            const at::Tensor log_sum_exp = block_rows(log_sum_exps, block).unsqueeze(-1);
            const at::Tensor p = sequence.scores(block, scaled, k).sub_(log_sum_exp).exp_();
            const at::Tensor dp = at::bmm(dy, v.transpose(1, 2));
            // p (dp - sum of p dp); the sum is out x dout too, but `out` may be rounded to bf16.
            const at::Tensor dscores = at::_softmax_backward_data(dp, p, -1, at::kFloat);
            store_rows(dqueries, block, at::bmm(dscores, k).mul_(sequence.scale()));
            block_keys(dkeys, block).add_(at::bmm(dscores.transpose(1, 2), scaled));
            block_keys(dvalues, block).add_(at::bmm(p.transpose(1, 2), dy));
        });
        store(sequence.keys(dqkv), dkeys);
        store(sequence.values(dqkv), dvalues);
    });
}

}  // namespace sluice::cpu
