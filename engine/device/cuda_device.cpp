// The device on an NVIDIA GPU: one stream per lane, an event at both ends of each operation.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <fstream>

#include "engine/device/device.h"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/cuda_kernels.h"
#include "engine/kernels/cuda/require.h"
#include "sim/base/input_error.h"
#include "sim/plan/runs_today.h"

namespace sluice {
namespace {

Bytes bytes_in_use() {
    std::size_t free = 0, total = 0;
    SLUICE_CHECK_CUDA(cudaMemGetInfo(&free, &total));
    return static_cast<Bytes>(total - free);
}

/// The NUMA node of the GPU's slot; -1 if the system does not say.
int numa_node_of(int ordinal) {
    std::array<char, 32> bus{};
    SLUICE_CHECK_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), ordinal));
    std::string name(bus.data());
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    std::ifstream file("/sys/bus/pci/devices/" + name + "/numa_node");
    int node = -1;
    file >> node;
    return node;
}

class CudaDevice final : public Device {
  public:
    explicit CudaDevice(int ordinal) : ordinal_(ordinal) {
        attach_thread();
        SLUICE_CHECK_CUDA(cudaFree(nullptr));  // creates the context
        for (cudaStream_t& stream : streams_)
            SLUICE_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        SLUICE_CHECK_CUDA(cudaEventCreate(&anchor_));
        context_ = bytes_in_use();
    }
    ~CudaDevice() override {
        cudaDeviceSynchronize();
        kernels_.reset();
        for (const cudaEvent_t event : events_) cudaEventDestroy(event);
        cudaEventDestroy(anchor_);
        cudaFree(arena_);
        for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    }

    DeviceFacts facts() const override {
        cudaDeviceProp properties{};
        SLUICE_CHECK_CUDA(cudaGetDeviceProperties(&properties, ordinal_));
        std::size_t free = 0, total = 0;
        SLUICE_CHECK_CUDA(cudaMemGetInfo(&free, &total));
        DeviceFacts facts;
        facts.name = properties.name;
        facts.is_gpu = true;
        facts.has_fp8 = 10 * properties.major + properties.minor >= kFirstFp8Capability;
        // cuDNN's backward takes memory for documents x the longest on others.
        const std::string capability = fmt::format("{}.{}", properties.major, properties.minor);
        facts.has_document_attention = attends_within_documents(capability);
        facts.has_expert_products = multiplies_experts(capability);
        facts.memory_capacity = static_cast<Bytes>(total);
        facts.context = context_;
        facts.numa_node = numa_node_of(ordinal_);
        facts.multiprocessors = properties.multiProcessorCount;
        return facts;
    }
    Bytes memory_in_use() const override { return bytes_in_use(); }
    void attach_thread() override { SLUICE_CHECK_CUDA(cudaSetDevice(ordinal_)); }

    char* allocate_arena(Bytes bytes, Bytes workspace_offset, Bytes workspace_bytes) override {
        if (arena_ != nullptr) throw InternalError("the device's arena is allocated already");
        SLUICE_CHECK_CUDA(cudaMalloc(&arena_, static_cast<std::size_t>(bytes)));
        SLUICE_CHECK_CUDA(cudaMemset(arena_, 0, static_cast<std::size_t>(bytes)));
        SLUICE_CHECK_CUDA(cudaDeviceSynchronize());  // the lanes' streams do not wait for it
        auto* const base = static_cast<char*>(arena_);
        kernels_ = std::make_unique<CudaKernels>(stream(Work::compute),
                                                 Scratch{base + workspace_offset, workspace_bytes});
        return base;
    }
    Kernels& kernels() override { return *kernels_; }

    void register_host(void* memory, Bytes bytes) override {
        SLUICE_CHECK_CUDA(
            cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterDefault));
    }
    void release_host(void* memory) override { cudaHostUnregister(memory); }
    void copy(Work work, void* to, const void* from, Bytes bytes) override {
        SLUICE_CHECK_CUDA(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes),
                                          cudaMemcpyDefault, stream(work)));
    }

    void finish_all() override { cudaDeviceSynchronize(); }

    void create_events(int count) override {
        while (static_cast<int>(events_.size()) < count) {
            // A waiting thread sleeps, since its core belongs to the optimizer.
            SLUICE_CHECK_CUDA(
                cudaEventCreateWithFlags(&events_.emplace_back(), cudaEventBlockingSync));
        }
    }
    void record(Work work, EventId event) override {
        SLUICE_CHECK_CUDA(cudaEventRecord(at(event), stream(work)));
    }
    void wait(Work work, EventId event) override {
        SLUICE_CHECK_CUDA(cudaStreamWaitEvent(stream(work), at(event), 0));
    }
    void synchronize(EventId event) override { SLUICE_CHECK_CUDA(cudaEventSynchronize(at(event))); }
    Seconds time_of(EventId event) override {
        float milliseconds = 0;  // negative for times before the anchor
        const cudaError_t status = cudaEventElapsedTime(&milliseconds, anchor_, at(event));
        SLUICE_CHECK_CUDA(status);
        return anchor_seconds_ + 1e-3 * static_cast<double>(milliseconds);
    }
    /// An event on an otherwise empty stream happens at once.
    void align_clocks() override {
        const Seconds before = host_seconds();
        SLUICE_CHECK_CUDA(cudaEventRecord(anchor_, streams_.back()));
        SLUICE_CHECK_CUDA(cudaEventSynchronize(anchor_));
        anchor_seconds_ = (before + host_seconds()) / 2;
    }

  private:
    cudaStream_t stream(Work work) const { return streams_.at(static_cast<std::size_t>(work)); }
    cudaEvent_t at(EventId event) const { return events_[static_cast<std::size_t>(event)]; }

    int ordinal_;
    Bytes context_ = 0;
    std::array<cudaStream_t, 4> streams_{};  ///< host_to_device, compute, device_to_host, clock
    std::vector<cudaEvent_t> events_;
    cudaEvent_t anchor_ = nullptr;
    Seconds anchor_seconds_ = 0;
    void* arena_ = nullptr;
    std::unique_ptr<CudaKernels> kernels_;
};

}  // namespace

bool built_with_cuda() { return true; }

std::unique_ptr<Device> make_cuda_device(int ordinal) {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        throw InputError(fmt::format(
            "--device cuda: no usable GPU here ({}); see nvidia-smi, or give --device cpu",
            status == cudaSuccess ? "none found" : cudaGetErrorString(status)));
    }
    if (ordinal >= count)
        throw InputError(
            fmt::format("--device cuda:{}: expected at most cuda:{}", ordinal, count - 1));
    return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace sluice
