// The probe's devices: a GPU through its driver alone, and a host without one.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <fstream>
#include <vector>

#include "calibrate/probe/cublaslt_products.h"
#include "calibrate/probe/cuda_driver.h"
#include "engine/device/device.h"
#include "engine/device/peer_copy.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

constexpr int kOrdinal = 0;
constexpr int kLongestName = 128;

CudaAddress address(const void* memory) { return reinterpret_cast<CudaAddress>(memory); }

class DriverDevice final : public Device {
  public:
    explicit DriverDevice(const CudaDriver& driver) : driver_(driver) {
        driver_.check(driver_.device(&device_, kOrdinal), "cuDeviceGet");
        driver_.check(driver_.retain_context(&context_, device_), "cuDevicePrimaryCtxRetain");
        attach_thread();
        for (CudaStream& stream : streams_)
            driver_.check(driver_.create_stream(&stream, kStreamNonBlocking), "cuStreamCreate");
        driver_.check(driver_.create_event(&anchor_, 0), "cuEventCreate");
        context_bytes_ = memory_in_use();
    }
    ~DriverDevice() override {
        driver_.synchronize();
        if (arena_ != 0) driver_.release(arena_);
        // Streams, events and the context end with the process.
    }

    DeviceFacts facts() const override {
        DeviceFacts facts;
        std::array<char, kLongestName> name{};
        driver_.check(driver_.name(name.data(), kLongestName, device_), "cuDeviceGetName");
        std::size_t free = 0, total = 0;
        driver_.check(driver_.memory(&free, &total), "cuMemGetInfo");
        facts.name = name.data();
        facts.is_gpu = true;
        facts.memory_capacity = static_cast<Bytes>(total);
        facts.context = context_bytes_;
        facts.numa_node = numa_node();
        driver_.check(driver_.attribute(&facts.multiprocessors, kMultiprocessorCount, device_),
                      "cuDeviceGetAttribute");
        return facts;
    }
    Bytes memory_in_use() const override {
        std::size_t free = 0, total = 0;
        driver_.check(driver_.memory(&free, &total), "cuMemGetInfo");
        return static_cast<Bytes>(total - free);
    }
    void attach_thread() override {
        driver_.check(driver_.set_context(context_), "cuCtxSetCurrent");
    }

    char* allocate_arena(Bytes bytes, Bytes workspace_offset, Bytes workspace_bytes) override {
        if (arena_ != 0) throw InternalError("the device's arena is allocated already");
        const auto size = static_cast<std::size_t>(bytes);
        driver_.check(driver_.allocate(&arena_, size), "cuMemAlloc");
        driver_.check(driver_.fill(arena_, 0, size), "cuMemsetD8");
        driver_.check(driver_.synchronize(), "cuCtxSynchronize");
        auto* const base = reinterpret_cast<char*>(arena_);
        products_ = make_cublaslt_products(
            stream(Work::compute),
            {base + workspace_offset, static_cast<std::size_t>(workspace_bytes)});
        return base;
    }
    Kernels& kernels() override {
        throw InternalError("the probe has products and no other kernels");
    }
    Products* products() override { return products_.get(); }

    void register_host(void* memory, Bytes bytes) override {
        driver_.check(driver_.register_host(memory, static_cast<std::size_t>(bytes), 0),
                      "cuMemHostRegister");
    }
    void release_host(void* memory) override { driver_.unregister_host(memory); }
    void copy(Work lane, void* to, const void* from, Bytes bytes) override {
        driver_.check(
            driver_.copy(address(to), address(from), static_cast<std::size_t>(bytes), stream(lane)),
            "cuMemcpyAsync");
    }
    void finish_all() override { driver_.synchronize(); }

    void create_events(int count) override {
        while (static_cast<int>(events_.size()) < count)
            driver_.check(driver_.create_event(&events_.emplace_back(), kEventBlockingSync),
                          "cuEventCreate");
    }
    void record(Work lane, EventId event) override {
        driver_.check(driver_.record(at(event), stream(lane)), "cuEventRecord");
    }
    void wait(Work lane, EventId event) override {
        driver_.check(driver_.wait(stream(lane), at(event), 0), "cuStreamWaitEvent");
    }
    void synchronize(EventId event) override {
        driver_.check(driver_.wait_for(at(event)), "cuEventSynchronize");
    }
    Seconds time_of(EventId event) override {
        float milliseconds = 0;
        driver_.check(driver_.elapsed(&milliseconds, anchor_, at(event)), "cuEventElapsedTime");
        return anchor_seconds_ + 1e-3 * static_cast<double>(milliseconds);
    }
    void align_clocks() override {
        const Seconds before = host_seconds();
        driver_.check(driver_.record(anchor_, streams_.back()), "cuEventRecord");
        driver_.check(driver_.wait_for(anchor_), "cuEventSynchronize");
        anchor_seconds_ = (before + host_seconds()) / 2;
    }

  private:
    int numa_node() const {
        std::string bus = gpu_bus_id(kOrdinal);
        for (char& c : bus) c = static_cast<char>(std::tolower(c));
        std::ifstream file("/sys/bus/pci/devices/" + bus + "/numa_node");
        int node = -1;
        file >> node;
        return node;
    }
    CudaStream stream(Work lane) const { return streams_.at(static_cast<std::size_t>(lane)); }
    CudaEvent at(EventId event) const { return events_[static_cast<std::size_t>(event)]; }

    const CudaDriver& driver_;
    int device_ = 0;
    CudaContext context_ = nullptr;
    Bytes context_bytes_ = 0;
    std::array<CudaStream, 4> streams_{};  ///< host_to_device, compute, device_to_host, clock
    std::vector<CudaEvent> events_;
    CudaEvent anchor_ = nullptr;
    Seconds anchor_seconds_ = 0;
    CudaAddress arena_ = 0;
    std::unique_ptr<Products> products_;
};

}  // namespace

int gpu_count() {
    int count = 0;
    if (const CudaDriver* const driver = cuda_driver())
        driver->check(driver->count(&count), "cuDeviceGetCount");
    return count;
}

std::string gpu_bus_id(int ordinal) {
    const CudaDriver* const driver = cuda_driver();
    int device = 0;
    std::array<char, kLongestName> id{};
    if (driver == nullptr || driver->device(&device, ordinal) != 0 ||
        driver->bus_id(id.data(), kLongestName, device) != 0)
        return "";
    return id.data();
}

std::string attached_gpu_bus_id() { return gpu_bus_id(kOrdinal); }

std::unique_ptr<PeerCopy> make_peer_copy(int, int, Bytes) {
    throw InternalError("the probe measures one GPU");
}

std::unique_ptr<Device> make_device(const std::string&, int, const HostFacts&) {
    if (const CudaDriver* const driver = cuda_driver())
        return std::make_unique<DriverDevice>(*driver);
    return make_host_memory_device(nullptr);
}

}  // namespace sluice
