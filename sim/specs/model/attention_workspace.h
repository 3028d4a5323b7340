// How much memory does the backward pass of attention need beside its tensors, and for how many
// heads at a time?
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/units.h"

namespace sluice {

/// Attention over sequences of one length, or over documents in them.
struct AttentionBatch {
    std::int64_t sequences, sequence, heads, kv_heads, head_dim;
    bool within_documents = false;
    constexpr std::int64_t tokens() const { return sequences * sequence; }
};

/// Rows in whole tiles, as cuDNN 9.19 takes them where it sums in an order that never changes: for
/// 3 sequences of 100 tokens it asked for 398,272 bytes, for 384 rows it has 399,360.
constexpr std::int64_t rows_of_tiles(const AttentionBatch& of) {
    constexpr std::int64_t kTile = 128;
    return of.sequences * ((of.sequence + kTile - 1) / kTile * kTile);
}

/// On an H200 backward takes 7% less time that way with 1,024 tokens and 7% more with 4,096.
inline constexpr std::int64_t kLongestRepeated = 2048;

/// Whether a query's gradient is summed in an order that never changes, from the gradients of all
/// its scores. Else keys add to it as they are done.
constexpr bool attention_repeats(const AttentionBatch& of) {
    return !of.within_documents && of.sequence <= kLongestRepeated;
}

/// For all heads, in bytes per token: what cuDNN 9.19 asked for on an H200. The query gradient in
/// fp32, or the gradients of a row's scores in bf16, which other GPUs do not use; one number per
/// row, and with grouped heads the gradients of keys and values for each query head, for which it
/// takes twice as much within documents.
constexpr std::int64_t attention_workspace_per_token(const AttentionBatch& of) {
    constexpr std::int64_t kScores = 64;  // of a tile
    const std::int64_t expanded =
        of.kv_heads < of.heads ? 2 * of.heads * of.head_dim * (of.within_documents ? kFp32 : kBf16)
                               : 0;
    const std::int64_t query = of.head_dim * kFp32,
                       scores = (of.sequence + kScores - 1) / kScores * kScores * kBf16;
    return of.heads * (attention_repeats(of) ? std::max(query, scores) : query) + of.heads * kFp32 +
           expanded;
}

/// Chosen, not measured: a key/value head of 524,288 tokens keeps a GPU busy for a second.
inline constexpr Bytes kMostAttentionWorkspace = std::int64_t{4} << 30;
/// Eight sequences of 1,024 tokens of a 7B model: on an H200 32 of them take 8% longer in such
/// parts than at once in any order, which is 0.2% of a step.
inline constexpr Bytes kMostRepeatedWorkspace = std::int64_t{640} << 20;

/// The sequences whose gradients are found at a time, and of these the key/value heads with their
/// queries, in equal parts of all: as many as that workspace allows. The last sequences may be
/// fewer.
constexpr AttentionBatch attention_at_once(const AttentionBatch& all) {
    const bool repeats = attention_repeats(all);
    const Bytes most = repeats ? kMostRepeatedWorkspace : kMostAttentionWorkspace;
    const Bytes sequence = all.sequence * attention_workspace_per_token(all);
    AttentionBatch part = all;
    if (repeats) {
        const std::int64_t fit =
            std::max<std::int64_t>(1, std::min(most / sequence, all.sequences));
        const std::int64_t times = (all.sequences + fit - 1) / fit;
        part.sequences = (all.sequences + times - 1) / times;
    }
    std::int64_t parts = 1;
    while (parts < all.kv_heads &&
           (all.kv_heads % parts != 0 || part.sequences * sequence / parts > most))
        ++parts;
    part.kv_heads = all.kv_heads / parts;
    part.heads = all.heads / parts;
    return part;
}

/// Whether that are fewer than all heads. The gradients of q, k and v then overwrite q, k and v.
constexpr bool attention_in_parts(const AttentionBatch& all) {
    return attention_at_once(all).kv_heads < all.kv_heads;
}

/// Documents that attention takes at a time, so that short ones need little memory, too.
inline constexpr std::int64_t kDocumentsAtOnce = 4096;

/// At most, for each of them: its length, its place in four tensors, and what cuDNN 9.19 asked for
/// on an H200, with its constant and what lies before multiples of 256 bytes.
constexpr Bytes documents_workspace_bytes(std::int64_t tokens) {
    constexpr Bytes kLength = 4, kPlaces = 4 * 8, kByCudnn = 448, kConstant = 4096;
    return std::min(tokens, kDocumentsAtOnce) * (kLength + kPlaces + kByCudnn) + kConstant;
}

/// For what it takes at a time, with the gradients if these are not all heads'. Within documents
/// with their gradients, queries, keys and values, which cuDNN takes there in matrices without
/// gaps.
constexpr Bytes attention_workspace_bytes(const AttentionBatch& all) {
    const AttentionBatch part = attention_at_once(all);
    const std::int64_t matrix = (part.heads + 2 * part.kv_heads) * part.head_dim * kBf16;
    const std::int64_t gradients = part.kv_heads < all.kv_heads ? matrix : 0;
    const std::int64_t cudnn = attention_workspace_per_token(part);
    if (attention_repeats(all)) {
        constexpr Bytes kConstant = 256;  // as it asked on an H200, beside the rows
        return rows_of_tiles(part) * cudnn + kConstant + part.tokens() * gradients;
    }
    if (!all.within_documents) return part.tokens() * (cudnn + gradients);
    // Its number per row has the stride of all heads.
    return part.tokens() * (cudnn + 2 * matrix + (all.heads - part.heads) * kFp32) +
           documents_workspace_bytes(part.tokens());
}

}  // namespace sluice
