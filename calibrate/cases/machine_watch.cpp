#include "calibrate/cases/machine_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <utility>

#include "engine/machine/system_files.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kLoadWindow{300};
constexpr std::chrono::milliseconds kClockPeriod{200};

constexpr double kBusyWarning = 0.05;    // a quiet machine with its services shows 0 to 2%
constexpr double kStolenWarning = 0.01;  // 1% of 0.3 s on 16 CPUs is 5 ticks
constexpr double kHotMargin = 5;         // degrees below the slowdown

// Set by heat, the power supply or the board, not by the workload: training does not run like this.
constexpr std::uint64_t kThrottled = clock_events::kHardwareSlowdown |
                                     clock_events::kSoftwareThermal |
                                     clock_events::kHardwareThermal | clock_events::kPowerBrake;

std::vector<int> cpu_ids(const HostFacts& host) {
    std::vector<int> ids;
    for (const Cpu& cpu : host.cpus) ids.push_back(cpu.id);
    return ids;
}

void read_cpu_load(const HostFacts& host, MachineLoad& load) {
    const SystemFiles files("/");
    const std::vector<int> cpus = cpu_ids(host);
    load.cpus = static_cast<int>(cpus.size());
    const auto before = parse_cpu_ticks(files.text("proc/stat"), cpus);
    std::this_thread::sleep_for(kLoadWindow);
    const auto after = parse_cpu_ticks(files.text("proc/stat"), cpus);
    if (before && after && after->total > before->total) {
        const double total = after->total - before->total;
        load.cpu_busy_share = std::max(0.0, (after->busy - before->busy) / total);
        load.cpu_stolen_share = std::max(0.0, (after->stolen - before->stolen) / total);
    }
    std::istringstream text(files.text("proc/loadavg"));
    double average = 0;
    if (text >> average) load.load_average = average;
}

void warn_of_cpus(const MachineLoad& load, std::vector<std::string>& warnings) {
    const double busy = load.cpu_busy_share.value_or(0), stolen = load.cpu_stolen_share.value_or(0);
    if (busy > kBusyWarning) {
        warnings.push_back(
            fmt::format("the processors were {:.0f}% busy with other programs before the start; "
                        "measurements will be too low: stop them or calibrate later",
                        100 * busy));
    } else if (load.cpus > 0 && load.load_average.value_or(0) > 0.5 * load.cpus) {
        warnings.push_back(fmt::format(
            "{:.1f} threads a processor ran in the last minute, on {} processors; measurements "
            "will be too low if they continue: stop them or calibrate later",
            *load.load_average / load.cpus, load.cpus));
    }
    if (stolen > kStolenWarning) {
        warnings.push_back(fmt::format(
            "the host of this virtual machine took {:.0f}% of the processors' time before the "
            "start; host measurements will be low and uneven: calibrate later",
            100 * stolen));
    }
}

void warn_of_gpu(const MachineLoad& load, std::vector<std::string>& warnings) {
    if (load.gpu_busy_share.value_or(0) > kBusyWarning) {
        warnings.push_back(
            fmt::format("the GPU was {:.0f}% busy before the start; measurements will be too low: "
                        "stop what nvidia-smi shows there or calibrate later",
                        100 * *load.gpu_busy_share));
    }
    if (load.gpu_programs && load.gpu_programs->count > 0) {
        const int count = load.gpu_programs->count;
        warnings.push_back(fmt::format(
            "{} other program{} the GPU and hold{} {:.1f} GB of its memory; measurements will be "
            "too low if they compute during them: stop them or calibrate later",
            count, count == 1 ? " uses" : "s use", count == 1 ? "s" : "",
            load.gpu_programs->memory_bytes / kGiga));
    }
    if (load.gpu_temperature_c && load.gpu_slowdown_temperature_c &&
        *load.gpu_temperature_c > *load.gpu_slowdown_temperature_c - kHotMargin) {
        warnings.push_back(
            fmt::format("the GPU was at {:.0f} C before the start and slows down from {:.0f} C on; "
                        "let it cool down or check its cooling",
                        *load.gpu_temperature_c, *load.gpu_slowdown_temperature_c));
    }
}

std::string event_names(std::uint64_t events) {
    std::string names;
    const auto add = [&](std::uint64_t bit, const char* name) {
        if ((events & bit) == 0) return;
        if (!names.empty()) names += ", ";
        names += name;
    };
    add(clock_events::kSoftwareThermal, "thermal slowdown by the driver");
    add(clock_events::kHardwareThermal, "thermal slowdown by the hardware");
    add(clock_events::kPowerBrake, "power brake");
    // The hardware sets this one in addition to the two above.
    if ((events & (clock_events::kHardwareThermal | clock_events::kPowerBrake)) == 0)
        add(clock_events::kHardwareSlowdown, "hardware slowdown");
    return names;
}

}  // namespace

std::optional<CpuTicks> parse_cpu_ticks(std::string_view stat, const std::vector<int>& cpus) {
    std::set<std::string> wanted;
    for (const int id : cpus) wanted.insert(fmt::format("cpu{}", id));
    CpuTicks ticks;
    bool found = false;
    std::istringstream lines{std::string(stat)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name;
        fields >> name;
        if (!wanted.contains(name)) continue;
        // proc(5): user nice system idle iowait irq softirq steal; user already includes guest
        // time.
        double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
        if (!(fields >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal)) continue;
        found = true;
        const double busy = user + nice + system + irq + soft;
        ticks.busy += busy;
        ticks.stolen += steal;
        ticks.total += busy + steal + idle + wait;
    }
    if (!found) return std::nullopt;
    return ticks;
}

MachineLoad read_machine_load(const HostFacts& host, const Nvml* gpu) {
    MachineLoad load;
    read_cpu_load(host, load);
    if (gpu == nullptr) return load;
    load.gpu_busy_share = gpu->busy_share();
    load.gpu_programs = gpu->other_programs();
    load.gpu_temperature_c = gpu->temperature_c();
    load.gpu_slowdown_temperature_c = gpu->slowdown_temperature_c();
    return load;
}

std::vector<std::string> load_warnings(const MachineLoad& load) {
    std::vector<std::string> warnings;
    warn_of_cpus(load, warnings);
    warn_of_gpu(load, warnings);
    return warnings;
}

void add_clock_sample(ClockRecord& record, std::optional<std::uint64_t> events,
                      std::optional<double> clock_mhz, std::optional<double> temperature_c) {
    ++record.samples;
    const std::uint64_t bits = events.value_or(0);
    record.events |= bits;
    if ((bits & kThrottled) != 0) ++record.throttled_samples;
    if ((bits & clock_events::kSoftwarePowerCap) != 0) ++record.power_capped_samples;
    record.temperature_high_c = std::max(record.temperature_high_c, temperature_c.value_or(0));
    // An idle GPU's clock says nothing about the work.
    if (!clock_mhz || (bits & clock_events::kIdle) != 0) return;
    record.clock_low_mhz =
        record.clock_high_mhz == 0 ? *clock_mhz : std::min(record.clock_low_mhz, *clock_mhz);
    record.clock_high_mhz = std::max(record.clock_high_mhz, *clock_mhz);
}

std::vector<std::string> clock_warnings(const ClockRecord& record) {
    if (record.throttled_samples == 0) return {};
    return {fmt::format(
        "the GPU was throttled ({}) in {:.0f}% of {} samples, down to {:.0f} MHz, at {:.0f} C at "
        "most; its times are too long: check its cooling and power and measure again",
        event_names(record.events), 100.0 * record.throttled_samples / record.samples,
        record.samples, record.clock_low_mhz, record.temperature_high_c)};
}

std::string clock_summary(const ClockRecord& record) {
    if (record.samples == 0 || record.clock_high_mhz == 0) return "";
    return fmt::format(
        "SM clock {:.0f} to {:.0f} MHz, at the power limit in {:.0f}% of {} samples, at most "
        "{:.0f} "
        "C",
        record.clock_low_mhz, record.clock_high_mhz,
        100.0 * record.power_capped_samples / record.samples, record.samples,
        record.temperature_high_c);
}

void ClockWatch::sample(const Nvml& gpu, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto events = gpu.clock_event_bits();
        const auto clock = gpu.sm_clock_mhz(), temperature = gpu.temperature_c();
        std::unique_lock lock(mutex_);
        add_clock_sample(record_, events, clock, temperature);
        wake_.wait_for(lock, stop, kClockPeriod, [] { return false; });
    }
}

ClockRecord ClockWatch::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(record_, {});
}

}  // namespace sluice
