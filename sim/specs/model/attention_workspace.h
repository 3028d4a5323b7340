// How much memory does the backward pass of attention need beside its tensors, and for how many
// heads at a time?
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/units.h"

namespace sluice {

/// For all heads, in bytes per token: what cuDNN 9.19 asked for on an H200. The query gradient in
/// fp32, one number per row, and with grouped heads the gradients of keys and values for each query
/// head, for which it takes twice as much within documents.
constexpr std::int64_t attention_workspace_per_token(std::int64_t heads, std::int64_t kv_heads,
                                                     std::int64_t head_dim,
                                                     bool within_documents = false) {
    const std::int64_t expanded =
        kv_heads < heads ? 2 * heads * head_dim * (within_documents ? kFp32 : kBf16) : 0;
    return heads * head_dim * kFp32 + heads * kFp32 + expanded;
}

/// Chosen, not measured: batches of 128 sequences of 1,024 tokens of a 7B model stay below it, and
/// a key/value head of 524,288 tokens keeps a GPU busy for a second.
inline constexpr Bytes kMostAttentionWorkspace = std::int64_t{4} << 30;

/// Key/value heads whose gradients are found at a time, with those of their queries: as many as
/// that workspace allows, in equal parts of all of them.
constexpr std::int64_t key_heads_at_once(std::int64_t tokens, std::int64_t heads,
                                         std::int64_t kv_heads, std::int64_t head_dim) {
    const std::int64_t all = tokens * attention_workspace_per_token(heads, kv_heads, head_dim);
    for (std::int64_t parts = 1; parts < kv_heads; ++parts)
        if (kv_heads % parts == 0 && all / parts <= kMostAttentionWorkspace)
            return kv_heads / parts;
    return 1;
}

/// Whether that are fewer than all. The gradients of q, k and v then overwrite q, k and v.
constexpr bool attention_in_parts(std::int64_t tokens, std::int64_t heads, std::int64_t kv_heads,
                                  std::int64_t head_dim) {
    return key_heads_at_once(tokens, heads, kv_heads, head_dim) < kv_heads;
}

/// Documents that attention takes at a time, so that short ones need little memory, too.
inline constexpr std::int64_t kDocumentsAtOnce = 4096;

/// At most, for each of them: its length, its place in four tensors, and what cuDNN 9.19 asked for
/// on an H200, with its constant and what lies before multiples of 256 bytes.
constexpr Bytes documents_workspace_bytes(std::int64_t tokens) {
    constexpr Bytes kLength = 4, kPlaces = 4 * 8, kByCudnn = 448, kConstant = 4096;
    return std::min(tokens, kDocumentsAtOnce) * (kLength + kPlaces + kByCudnn) + kConstant;
}

/// For the heads that it takes at a time, with their gradients if these are not all. Within
/// documents with their gradients, queries, keys and values, which cuDNN takes there in matrices
/// without gaps.
constexpr Bytes attention_workspace_bytes(std::int64_t tokens, std::int64_t heads,
                                          std::int64_t kv_heads, std::int64_t head_dim,
                                          bool within_documents = false) {
    const std::int64_t at_once = key_heads_at_once(tokens, heads, kv_heads, head_dim);
    const std::int64_t queries = heads / kv_heads * at_once;
    const std::int64_t matrix = (queries + 2 * at_once) * head_dim * kBf16;
    const std::int64_t gradients = at_once < kv_heads ? matrix : 0;
    const std::int64_t cudnn =
        attention_workspace_per_token(queries, at_once, head_dim, within_documents);
    if (!within_documents) return tokens * (cudnn + gradients);
    // Its number per row has the stride of all heads.
    return tokens * (cudnn + 2 * matrix + (heads - queries) * kFp32) +
           documents_workspace_bytes(tokens);
}

}  // namespace sluice
