#include "engine/kernels/cuda/cuda_kernels.h"

#include "engine/kernels/cuda/cublas_gemm.h"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cudnn_attention.h"
#include "engine/kernels/cuda/require.h"

namespace sluice {
namespace {

/// On which cuDNN's workspace and time were measured: Hopper.
constexpr int kRepeatingCapability = 9;

}  // namespace

CudaKernels::CudaKernels(cudaStream_t stream, Scratch scratch, Options options)
    : stream_(stream), scratch_(scratch) {
    int device = 0;
    SLUICE_CHECK_CUDA(cudaGetDevice(&device));
    SLUICE_CHECK_CUDA(
        cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    SLUICE_CHECK_CUDA(cudaDeviceGetAttribute(&shared_bytes_per_block_,
                                             cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    int major = 0, minor = 0;
    SLUICE_CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    SLUICE_CHECK_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    compute_capability_ = 10 * major + minor;
    gemm_ = std::make_unique<CublasGemm>(stream, scratch, multiprocessors_);
    using Repeats = CudnnAttention::Repeats;
    attention_ =
        std::make_unique<CudnnAttention>(stream, scratch,
                                         options.attention_repeats       ? Repeats::always
                                         : major == kRepeatingCapability ? Repeats::where_planned
                                                                         : Repeats::never);
}

CudaKernels::CudaKernels(cudaStream_t stream, Scratch scratch)
    : CudaKernels(stream, scratch, Options{}) {}

CudaKernels::~CudaKernels() = default;

void CudaKernels::gemm(const Product& product) { gemm_->run(product); }

void CudaKernels::attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                            Documents documents) {
    attention_->forward(shape, qkv, out, statistics, documents);
}

void CudaKernels::attention_backward(const AttentionShape& shape, Matrix qkv, Matrix out,
                                     const float* statistics, Matrix dout, Matrix dqkv,
                                     void* workspace, Documents documents) {
    attention_->backward({shape, qkv, out, statistics, dout, dqkv, documents}, workspace);
}

std::int64_t CudaKernels::attention_workspace_bytes(const AttentionShape& shape,
                                                    Documents documents) {
    return attention_->workspace_bytes(shape, documents);
}

void CudaKernels::fill_zero(void* data, std::int64_t bytes) {
    SLUICE_CHECK_CUDA(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream_));
}

}  // namespace sluice
