// Copies between two NVIDIA GPUs by their copy engines.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/peer_copy.h"
#include "engine/kernels/cuda/cuda_check.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Makes a GPU current for the calling thread, until the end of the scope.
class OnGpu {
  public:
    explicit OnGpu(int ordinal) {
        SLUICE_CHECK_CUDA(cudaGetDevice(&before_));
        SLUICE_CHECK_CUDA(cudaSetDevice(ordinal));
    }
    ~OnGpu() { cudaSetDevice(before_); }
    OnGpu(const OnGpu&) = delete;
    OnGpu& operator=(const OnGpu&) = delete;

  private:
    int before_ = 0;
};

/// Pseudorandom bytes, different for each seed.
std::vector<std::uint64_t> pattern(Bytes bytes, std::uint64_t seed) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes) / 8);
    std::uint64_t state = seed * 0x9E3779B97F4A7C15;
    for (std::uint64_t& word : words) {
        // Marsaglia, Xorshift RNGs (2003): 13, 7, 17.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word = state;
    }
    return words;
}

/// One GPU's half: its buffer, its stream and events, and whether it reaches the other's memory.
struct Side {
    int ordinal = 0;
    void *sent = nullptr, *received = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t done = nullptr;
    bool reaches_other = false, enabled_access = false;

    void allocate(int gpu, int other, Bytes bytes) {
        ordinal = gpu;
        const OnGpu on(gpu);
        SLUICE_CHECK_CUDA(cudaMalloc(&sent, static_cast<std::size_t>(bytes)));
        SLUICE_CHECK_CUDA(cudaMalloc(&received, static_cast<std::size_t>(bytes)));
        SLUICE_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        SLUICE_CHECK_CUDA(cudaEventCreate(&done));
        const auto words = pattern(bytes, static_cast<std::uint64_t>(gpu) + 1);
        SLUICE_CHECK_CUDA(cudaMemcpy(sent, words.data(), words.size() * 8, cudaMemcpyHostToDevice));
        int can = 0;
        SLUICE_CHECK_CUDA(cudaDeviceCanAccessPeer(&can, gpu, other));
        if (can == 0) return;
        reaches_other = true;
        const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled) {
            cudaGetLastError();  // keeps no error
            return;
        }
        SLUICE_CHECK_CUDA(status);
        enabled_access = true;
    }
    void release(int other) {
        // No check throws here, since this also runs in a destructor.
        int before = 0;
        cudaGetDevice(&before);
        cudaSetDevice(ordinal);
        cudaDeviceSynchronize();
        if (enabled_access) cudaDeviceDisablePeerAccess(other);
        if (done != nullptr) cudaEventDestroy(done);
        if (stream != nullptr) cudaStreamDestroy(stream);
        cudaFree(received);
        cudaFree(sent);
        cudaSetDevice(before);
    }
};

class CudaPeerCopy final : public PeerCopy {
  public:
    CudaPeerCopy(int first, int second, Bytes bytes) : bytes_(bytes) {
        try {
            first_.allocate(first, second, bytes);
            second_.allocate(second, first, bytes);
            const OnGpu on(first);
            SLUICE_CHECK_CUDA(cudaEventCreate(&begin_));
            SLUICE_CHECK_CUDA(cudaEventCreate(&end_));
        } catch (...) {
            release();
            throw;
        }
    }
    ~CudaPeerCopy() override { release(); }

    bool is_direct() const override { return first_.reaches_other && second_.reaches_other; }

    Seconds time(Bytes bytes, int copies, bool both_ways) override {
        require(bytes);
        const OnGpu on(first_.ordinal);
        SLUICE_CHECK_CUDA(cudaEventRecord(begin_, first_.stream));
        SLUICE_CHECK_CUDA(cudaStreamWaitEvent(second_.stream, begin_, 0));
        for (int copy = 0; copy < copies; ++copy) {
            enqueue(first_, second_, bytes);
            if (both_ways) enqueue(second_, first_, bytes);
        }
        // There is no time between events of two GPUs, so the first GPU waits for the second.
        if (both_ways) {
            const OnGpu there(second_.ordinal);
            SLUICE_CHECK_CUDA(cudaEventRecord(second_.done, second_.stream));
        }
        if (both_ways) SLUICE_CHECK_CUDA(cudaStreamWaitEvent(first_.stream, second_.done, 0));
        SLUICE_CHECK_CUDA(cudaEventRecord(end_, first_.stream));
        SLUICE_CHECK_CUDA(cudaEventSynchronize(end_));
        float milliseconds = 0;
        SLUICE_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return 1e-3 * static_cast<double>(milliseconds);
    }

    bool arrives(Bytes bytes) override {
        require(bytes);
        {
            const OnGpu on(first_.ordinal);
            enqueue(first_, second_, bytes);
            SLUICE_CHECK_CUDA(cudaStreamSynchronize(first_.stream));
        }
        const OnGpu on(second_.ordinal);
        std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes) / 8);
        SLUICE_CHECK_CUDA(
            cudaMemcpy(words.data(), second_.received, words.size() * 8, cudaMemcpyDeviceToHost));
        return words == pattern(bytes, static_cast<std::uint64_t>(first_.ordinal) + 1);
    }

  private:
    void require(Bytes bytes) const {
        if (bytes > bytes_)
            throw InternalError(
                fmt::format("a peer copy of {} bytes with buffers of {}", bytes, bytes_));
    }
    static void enqueue(const Side& from, const Side& to, Bytes bytes) {
        const OnGpu on(from.ordinal);
        SLUICE_CHECK_CUDA(cudaMemcpyPeerAsync(to.received, to.ordinal, from.sent, from.ordinal,
                                              static_cast<std::size_t>(bytes), from.stream));
    }
    void release() {
        if (begin_ != nullptr) cudaEventDestroy(begin_);
        if (end_ != nullptr) cudaEventDestroy(end_);
        second_.release(first_.ordinal);
        first_.release(second_.ordinal);
    }

    Bytes bytes_;
    Side first_, second_;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

int gpu_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string gpu_bus_id(int ordinal) {
    std::array<char, 32> bus{};
    const cudaError_t status =
        cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), ordinal);
    return status == cudaSuccess ? std::string(bus.data()) : "";
}

std::string attached_gpu_bus_id() {
    int ordinal = 0;
    if (gpu_count() == 0 || cudaGetDevice(&ordinal) != cudaSuccess) return "";
    return gpu_bus_id(ordinal);
}

std::unique_ptr<PeerCopy> make_peer_copy(int first, int second, Bytes bytes) {
    const int count = gpu_count();
    if (first == second || first < 0 || second < 0 || first >= count || second >= count)
        throw InternalError(
            fmt::format("copies between GPUs {} and {} of {}", first, second, count));
    return std::make_unique<CudaPeerCopy>(first, second, bytes);
}

}  // namespace sluice
