// The plan on a machine without a GPU: "device" memory is ordinary memory, each lane's thread does
// its work at once.
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "engine/device/device.h"
#include "engine/kernels/cpu_kernels.h"

namespace sluice {
namespace {

class CpuDevice final : public Device {
  public:
    explicit CpuDevice(int threads) : kernels_(make_cpu_kernels(threads)) {}

    DeviceFacts facts() const override {
        DeviceFacts facts;
        facts.name = "CPU";
        facts.memory_capacity =
            static_cast<Bytes>(sysconf(_SC_PHYS_PAGES)) * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
        return facts;
    }
    Bytes memory_in_use() const override { return static_cast<Bytes>(arena_.size()); }
    void attach_thread() override {}
    char* allocate_arena(Bytes bytes, Bytes, Bytes) override {
        constexpr std::size_t kAlignment = 4096;
        arena_.assign(static_cast<std::size_t>(bytes) + kAlignment, 0);
        const auto address = reinterpret_cast<std::uintptr_t>(arena_.data());
        return arena_.data() + (kAlignment - address % kAlignment) % kAlignment;
    }
    Kernels& kernels() override { return *kernels_; }
    void register_host(void*, Bytes) override {}
    void release_host(void*) override {}
    void copy(Lane, void* to, const void* from, Bytes bytes) override {
        std::memcpy(to, from, static_cast<std::size_t>(bytes));
    }
    void finish_all() override {}
    void create_events(int count) override { times_.assign(static_cast<std::size_t>(count), 0); }
    void record(Lane, EventId event) override {
        times_[static_cast<std::size_t>(event)] = host_seconds();
    }
    // Work is done when its call returns, so what was recorded has happened.
    void wait(Lane, EventId) override {}
    void synchronize(EventId) override {}
    Seconds time_of(EventId event) override { return times_[static_cast<std::size_t>(event)]; }
    void align_clocks() override {}

  private:
    std::unique_ptr<Kernels> kernels_;
    std::vector<char> arena_;
    std::vector<Seconds> times_;
};

}  // namespace

Seconds host_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::unique_ptr<Device> make_cpu_device(int threads) {
    return std::make_unique<CpuDevice>(threads);
}

}  // namespace sluice
