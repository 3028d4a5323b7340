#include <algorithm>
#include <bit>

#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/document_places.h"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

constexpr int kPlaceThreads = 256;
constexpr std::int64_t kLengthBytes = sizeof(std::int32_t), kBeginBytes = sizeof(std::int64_t);

std::int64_t aligned_places(std::int64_t bytes) { return divide_up(bytes, 256) * 256; }

__global__ void __launch_bounds__(kPlaceThreads)
    document_places_kernel(Documents documents, const __grid_constant__ DocumentPlaces out) {
    const std::int64_t i = std::int64_t{blockIdx.x} * kPlaceThreads + threadIdx.x;
    if (i > out.count) return;
    const auto begin = [&](std::int64_t index) {
        return documents.begins[index < documents.count ? index : documents.count];
    };
    if (i < out.count) out.lengths[i] = begin(i + 1) - begin(i);
    for (int s = 0; s < kDocumentStrides; ++s) out.begins[s][i] = begin(i) * out.strides[s];
}

std::int64_t power_from(std::int64_t count) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

}  // namespace

std::int64_t document_places(std::int64_t documents, std::int64_t tokens) {
    return std::min(power_from(documents), tokens);
}

std::int64_t longest_places(std::int64_t longest, std::int64_t sequence) {
    constexpr std::int64_t kLeast = 64;
    return std::min(std::max(power_from(longest), kLeast), sequence);
}

std::int64_t document_places_bytes(std::int64_t count) {
    return aligned_places(count * kLengthBytes) +
           kDocumentStrides * aligned_places((count + 1) * kBeginBytes);
}

DocumentPlaces find_document_places(cudaStream_t stream, const Documents& documents,
                                    std::int64_t count,
                                    const std::array<std::int64_t, kDocumentStrides>& strides,
                                    void* memory) {
    DocumentPlaces places;
    places.count = count;
    places.lengths = static_cast<std::int32_t*>(memory);
    char* next = static_cast<char*>(memory) + aligned_places(count * kLengthBytes);
    for (std::size_t s = 0; s < strides.size(); ++s) {
        places.strides[s] = strides[s];
        places.begins[s] = reinterpret_cast<std::int64_t*>(next);
        next += aligned_places((count + 1) * kBeginBytes);
    }
    const unsigned blocks = grid_of("document places", divide_up(count + 1, kPlaceThreads));
    document_places_kernel<<<blocks, kPlaceThreads, 0, stream>>>(documents, places);
    SLUICE_CHECK_CUDA(cudaGetLastError());
    return places;
}

}  // namespace sluice
