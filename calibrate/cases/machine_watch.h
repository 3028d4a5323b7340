// Is the machine busy with other programs, or throttled, during a measurement?
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/machine/host_facts.h"
#include "engine/machine/nvml.h"

namespace sluice {

/// The use of the machine by others before the start. Empty: not known.
struct MachineLoad {
    std::optional<double> cpu_busy_share;    ///< of the CPUs that this process may use
    std::optional<double> cpu_stolen_share;  ///< of them, taken by the host of a virtual machine
    std::optional<double> load_average;      ///< over one minute: threads that run or want to run
    int cpus = 0;
    std::optional<double> gpu_busy_share;
    std::optional<OtherGpuPrograms> gpu_programs;
    std::optional<double> gpu_temperature_c, gpu_slowdown_temperature_c;
};

/// Takes 0.3 s. To be called before this process itself works: after the device was made, before
/// its memory is filled. `gpu` may be null.
MachineLoad read_machine_load(const HostFacts& host, const Nvml* gpu);

/// One sentence with numbers for each condition that makes measurements wrong; empty on a quiet
/// machine.
std::vector<std::string> load_warnings(const MachineLoad& load);

/// Ticks of the CPUs `cpus` since the start, from the text of /proc/stat; empty if it lists none of
/// them.
struct CpuTicks {
    double total = 0, busy = 0, stolen = 0;
};
std::optional<CpuTicks> parse_cpu_ticks(std::string_view stat, const std::vector<int>& cpus);

struct ClockRecord {
    int samples = 0;
    std::uint64_t events = 0;   ///< bits of clock_events, all that were seen
    int throttled_samples = 0;  ///< with one of those that clock_warnings() names
    int power_capped_samples = 0;
    double clock_low_mhz = 0,
           clock_high_mhz = 0;  ///< number of samples in which the GPU was not idle
    double temperature_high_c = 0;
};

/// Adds a sample; unknown values change nothing.
void add_clock_sample(ClockRecord& record, std::optional<std::uint64_t> events,
                      std::optional<double> clock_mhz, std::optional<double> temperature_c);

/// One sentence with numbers if heat or a hardware limit slowed the GPU down, since it does not
/// train in such a state. Running at the power limit gives no warning, since it trains there.
std::vector<std::string> clock_warnings(const ClockRecord& record);
/// "SM clock 1350 to 1980 MHz, at the power limit in 62% of 90 samples, at most 58 C"; "" without
/// samples.
std::string clock_summary(const ClockRecord& record);

/// Samples the clocks five times a second from its own thread, until destroyed.
class ClockWatch {
  public:
    /// `gpu` must outlive it.
    explicit ClockWatch(const Nvml& gpu)
        : thread_([this, &gpu](const std::stop_token& stop) { sample(gpu, stop); }) {}

    /// The clocks since the last call: of one case.
    ClockRecord take();

  private:
    void sample(const Nvml& gpu, const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    ClockRecord record_;
    std::jthread thread_;  ///< last member, since it uses the others
};

}  // namespace sluice
