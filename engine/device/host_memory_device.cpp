// The device on a machine without a GPU: "device" memory is ordinary memory, and each lane's thread
// does its work at once.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "engine/device/device.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

class HostMemoryDevice final : public Device {
  public:
    explicit HostMemoryDevice(std::unique_ptr<Kernels> kernels) : kernels_(std::move(kernels)) {}

    DeviceFacts facts() const override {
        DeviceFacts facts;
        facts.name = "CPU";
        facts.memory_capacity =
            static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
        return facts;
    }
    Bytes memory_in_use() const override { return arena_bytes_; }
    void attach_thread() override {}
    char* allocate_arena(Bytes bytes, Bytes, Bytes) override {
        constexpr std::size_t kAlignment = 4096;
        arena_bytes_ = bytes + static_cast<Bytes>(kAlignment);
        // Pages that nothing touches, as those of the kernels' workspace, cost nothing.
        arena_.reset(static_cast<char*>(std::calloc(static_cast<std::size_t>(arena_bytes_), 1)));
        if (!arena_) throw std::bad_alloc();
        const auto address = reinterpret_cast<std::uintptr_t>(arena_.get());
        return arena_.get() + (kAlignment - address % kAlignment) % kAlignment;
    }
    Kernels& kernels() override {
        if (!kernels_) throw InternalError("host memory alone has no kernels");
        return *kernels_;
    }
    Products* products() override { return kernels_.get(); }
    void register_host(void*, Bytes) override {}
    void release_host(void*) override {}
    void copy(Work, void* to, const void* from, Bytes bytes) override {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    void copy_sums(Work, StepSums* to, StepSums* from) override {
        const auto value = [](double& sum) { return std::atomic_ref(sum).load(); };
        *to = {value(from->loss), value(from->norm_square)};
    }
    void finish_all() override {}
    void create_events(int count) override { times_.assign(static_cast<std::size_t>(count), 0); }
    void record(Work, EventId event) override {
        times_[static_cast<std::size_t>(event)] = host_seconds();
    }
    // Work is done when its call returns, so a recorded event has happened.
    void wait(Work, EventId) override {}
    void synchronize(EventId) override {}
    Seconds time_of(EventId event) override { return times_[static_cast<std::size_t>(event)]; }
    void align_clocks() override {}

  private:
    std::unique_ptr<Kernels> kernels_;
    struct Free {
        void operator()(char* memory) const { std::free(memory); }
    };
    std::unique_ptr<char, Free> arena_;
    Bytes arena_bytes_ = 0;
    std::vector<Seconds> times_;
};

}  // namespace

Seconds host_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::unique_ptr<Device> make_host_memory_device(std::unique_ptr<Kernels> kernels) {
    return std::make_unique<HostMemoryDevice>(std::move(kernels));
}

int default_cpu_threads(const HostFacts& host) {
    return std::max(1, static_cast<int>(host.cpus.size()) / 2);
}

}  // namespace sluice
