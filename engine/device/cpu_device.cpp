// The device on a machine without a GPU: "device" memory is ordinary memory, and each lane's thread
// does its work at once.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "engine/device/device.h"
#include "engine/kernels/cpu_kernels.h"
#include "sim/base/input_error.h"

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
    // Work is done when its call returns, so a recorded event has happened.
    void wait(Lane, EventId) override {}
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

std::unique_ptr<Device> make_cpu_device(int threads) {
    return std::make_unique<CpuDevice>(threads);
}

namespace {

[[noreturn]] void refuse(const std::string& name) {
    throw InputError(fmt::format("--device is \"{}\", expected auto, cpu, cuda or cuda:N", name));
}

int gpu_ordinal(const std::string& name) {
    if (name == "cuda") return 0;
    const std::string number = name.substr(std::string("cuda:").size());
    if (number.size() == 1 && number[0] >= '0' && number[0] <= '9') return number[0] - '0';
    refuse(name);
}

}  // namespace

int default_cpu_threads(const HostFacts& host) {
    return std::max(1, static_cast<int>(host.cpus.size()) / 2);
}

std::unique_ptr<Device> make_device(const std::string& name, int cpu_threads,
                                    const HostFacts& host) {
    if (name != "auto" && name != "cpu" && name != "cuda" && !name.starts_with("cuda:"))
        refuse(name);
    if (cpu_threads < 0 || cpu_threads > std::ssize(host.cpus))
        throw InputError(fmt::format("--cpu-threads is {}, expected 0 (half the CPUs) to {}",
                                     cpu_threads, host.cpus.size()));
    const int threads = cpu_threads > 0 ? cpu_threads : default_cpu_threads(host);
    if (name == "cpu" || (name == "auto" && !built_with_cuda())) return make_cpu_device(threads);
    if (name != "auto") return make_cuda_device(gpu_ordinal(name));
    try {
        return make_cuda_device(0);
    } catch (const InputError&) {
        return make_cpu_device(threads);
    }
}

}  // namespace sluice
