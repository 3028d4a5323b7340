// Where does each document begin in the tensors of attention, and how long is it?
#pragma once

#include <array>
#include <cstdint>

#include "engine/kernels/cuda/cuda_kernels.h"

namespace sluice {

/// Tensors of attention whose strides may differ.
inline constexpr int kDocumentStrides = 4;

/// Places of documents in device memory.
struct DocumentPlaces {
    std::int64_t count = 0;           ///< the documents, then empty ones
    std::int32_t* lengths = nullptr;  ///< (count)
    /// (count + 1) for each stride: first tokens x stride, then all tokens x stride.
    std::int64_t* begins[kDocumentStrides] = {};
    std::int64_t strides[kDocumentStrides] = {};
};

/// The power of two from `documents` on, so that few graphs are built, but at most `tokens`.
std::int64_t document_places(std::int64_t documents, std::int64_t tokens);
/// The power of two from `longest` on, at least 64, so that few graphs are built, but at most
/// `sequence`.
std::int64_t longest_places(std::int64_t longest, std::int64_t sequence);
std::int64_t document_places_bytes(std::int64_t count);

/// Fills `memory` of document_places_bytes(count), aligned to 256 bytes.
DocumentPlaces find_document_places(cudaStream_t stream, const Documents& documents,
                                    std::int64_t count,
                                    const std::array<std::int64_t, kDocumentStrides>& strides,
                                    void* memory);

}  // namespace sluice
