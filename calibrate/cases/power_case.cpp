// How much energy does each kind of work take? Read from the counters of GPU and processors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/energy.h"
#include "calibrate/cases/kernel_rows.h"
#include "calibrate/cases/optimizer_load.h"
#include "engine/device/device.h"
#include "engine/machine/nvml.h"
#include "engine/memory/host_region.h"
#include "sim/specs/machine/kernel_table.h"

namespace sluice {
namespace {

constexpr Bytes kCopyBytes = 64 * kMiB;
constexpr int kGpuLoads = 5, kProcessorLoads = 2;

using Counter = std::function<std::optional<double>()>;

/// Does or enqueues some 5 to 20 ms of work, and returns its amount in the work's unit.
using PowerLoad = std::function<double()>;

struct PowerTimes {
    Seconds warm_up = 0.4, measured = 1.1;
};
PowerTimes times_of(const Bench& bench) {
    return bench.quick ? PowerTimes{0.2, 0.5} : PowerTimes{};
}

/// Calls `work` repeatedly and reads the counter after each call.
std::optional<EnergyReading> measure(const PowerTimes& times, const Counter& counter,
                                     const PowerLoad& work) {
    std::vector<EnergySample> samples;
    double done = 0;
    const Seconds begin = host_seconds(), end = begin + times.warm_up + times.measured;
    while (host_seconds() < end) {
        done += work();
        const auto joules = counter();
        const Seconds now = host_seconds();
        if (!joules) return std::nullopt;
        if (now - begin >= times.warm_up) samples.push_back({now, *joules, done});
    }
    return energy_reading(samples);
}

PowerLoad sleep_work() {
    return [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return 0.0;
    };
}

/// Keeps two batches of work enqueued on lanes of the device, and counts the finished ones.
class QueuedWork {
  public:
    QueuedWork(Device& device, std::vector<Work> lanes, double amount,
               std::function<void()> enqueue)
        : device_(&device),
          lanes_(std::move(lanes)),
          amount_(amount),
          enqueue_(std::move(enqueue)) {
        device.create_events(static_cast<int>(2 * lanes_.size()));
    }
    double operator()() {
        enqueue_();
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
            device_->record(lanes_[lane], event(batches_, lane));
        if (++batches_ < 2) return 0;
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
            device_->synchronize(event(batches_ - 2, lane));
        return amount_;
    }

  private:
    EventId event(int batch, std::size_t lane) const {
        return static_cast<EventId>((static_cast<std::size_t>(batch) % 2) * lanes_.size() + lane);
    }

    Device* device_;
    std::vector<Work> lanes_;
    double amount_;
    std::function<void()> enqueue_;
    int batches_ = 0;
};

/// Square products as large as the arena allows up to 8192; amount in TFLOP.
PowerLoad gemm_work(Bench& bench) {
    const Bytes element = bytes_of(bench.activations);
    const auto fits = [&](std::int64_t n) {
        return OperandSets(bench, input_zone(bench), {n * n * element, n * n * element}).fit();
    };
    std::int64_t n = 8192;
    while (n > 256 && !fits(n)) n /= 2;
    const OperandSets inputs(bench, input_zone(bench), {n * n * element, n * n * element});
    const OperandSets outputs(bench, output_zone(bench), {n * n * element});
    const auto enqueue = [&bench, inputs, outputs, n, call = std::int64_t{0}]() mutable {
        const auto matrix = [&](char* data) { return Matrix(data, bench.activations, n, n); };
        for (int product = 0; product < 8; ++product, ++call) {
            Kernels::Product gemm;
            gemm.d = matrix(outputs.at(call, 0));
            gemm.a = matrix(inputs.at(call, 0));
            gemm.b = matrix(inputs.at(call, 1));
            gemm.transpose_b = Transpose::yes;
            bench.device.kernels().gemm(gemm);
        }
    };
    const double edge = static_cast<double>(n);
    return QueuedWork(bench.device, {Work::compute}, 8 * 2 * edge * edge * edge / kTera, enqueue);
}

/// Causal attention of grouped heads forward; amount in TFLOP.
PowerLoad attention_work(Bench& bench) {
    AttentionShape shape{2, 4096, 32, 8, 128, 0};
    const Bytes element = bytes_of(bench.activations);
    const auto sizes = [&] {
        return std::pair(shape.tokens() * shape.qkv_width() * element,
                         shape.tokens() * shape.query_width() * element);
    };
    while (shape.sequence > 512 && !OperandSets(bench, input_zone(bench), {sizes().first}).fit())
        shape.sequence /= 2;
    const OperandSets inputs(bench, input_zone(bench), {sizes().first});
    const OperandSets outputs(bench, output_zone(bench),
                              {sizes().second, shape.tokens() * shape.heads * kFp32});
    const auto enqueue = [&bench, inputs, outputs, shape, call = std::int64_t{0}]() mutable {
        for (int repeat = 0; repeat < 8; ++repeat, ++call)
            bench.device.kernels().attention(
                shape, {inputs.at(call, 0), bench.activations, shape.tokens(), shape.qkv_width()},
                {outputs.at(call, 0), bench.activations, shape.tokens(), shape.query_width()},
                reinterpret_cast<float*>(outputs.at(call, 1)));
    };
    const std::array<double, 5> row = {
        static_cast<double>(shape.sequences), static_cast<double>(shape.sequence),
        static_cast<double>(shape.heads), static_cast<double>(shape.kv_heads),
        static_cast<double>(shape.head_dim)};
    const double flops = kernel_of_row(KernelTableId::attention_forward, row).flops;
    return QueuedWork(bench.device, {Work::compute}, 8 * flops / kTera, enqueue);
}

/// Copies within the device's memory; amount in GB read and written.
PowerLoad memory_work(Bench& bench) {
    const Zone from = input_zone(bench), to = output_zone(bench);
    const Bytes bytes = std::min({from.bytes, to.bytes, Bytes{2048} * kMiB});
    const int copies = static_cast<int>(8 * Bytes{2048} * kMiB / bytes);
    const auto enqueue = [&bench, from, to, bytes, copies] {
        for (int copy = 0; copy < copies; ++copy)
            bench.device.copy(Work::compute, bench.at(to.begin, bytes), bench.at(from.begin, bytes),
                              bytes);
    };
    return QueuedWork(bench.device, {Work::compute},
                      copies * 2 * static_cast<double>(bytes) / kGiga, enqueue);
}

/// Copies over the link, in both directions at once; amount in GB, the sum of both. The host memory
/// is the two halves of `host`.
PowerLoad copy_work(Bench& bench, const HostRegion& host) {
    const auto enqueue = [&bench, &host] {
        for (int copy = 0; copy < 4; ++copy) {
            bench.device.copy(Work::host_to_device, bench.at(output_zone(bench).begin, kCopyBytes),
                              host.data(), kCopyBytes);
            bench.device.copy(Work::device_to_host, host.data() + kCopyBytes,
                              bench.at(input_zone(bench).begin, kCopyBytes), kCopyBytes);
        }
    };
    return QueuedWork(bench.device, {Work::host_to_device, Work::device_to_host},
                      4 * 2 * static_cast<double>(kCopyBytes) / kGiga, enqueue);
}

/// A table of one row; `unit` is the work's ("tflop"), "" for no work.
class PowerTables {
  public:
    /// `loads`: how many will be measured, for the progress.
    PowerTables(Bench& bench, CaseRecord& record, int loads)
        : bench_(bench), record_(record), loads_(loads) {}

    void measure_load(const char* name, const char* counter_name, const std::string& what,
                      const std::string& unit, const Counter& counter, const PowerLoad& work) {
        const PowerTimes times = times_of(bench_);
        const auto reading = measure(times, counter, work);
        bench_.device.finish_all();
        bench_.report(++measured_ / static_cast<double>(loads_));
        if (!reading) {
            record_.warnings.push_back(fmt::format(
                "{}: {} advanced fewer than twice in {:g} s; the energy of {} is not known", name,
                counter_name, times.measured, what));
            return;
        }
        CaseTable table;
        table.name = name;
        table.method = fmt::format("mean of {} over {:.2f} s of {}, after {:g} s of it",
                                   counter_name, reading->seconds, what, times.warm_up);
        table.columns = {"watts", "watts_low", "watts_high"};
        std::vector<double> row = {reading->watts, reading->watts_low, reading->watts_high};
        if (!unit.empty()) {
            table.columns.push_back("joules_per_" + unit);
            row.push_back(reading->watts / reading->done_per_s);
        }
        table.add(std::move(row));
        record_.tables.push_back(std::move(table));
    }

  private:
    Bench& bench_;
    CaseRecord& record_;
    int loads_, measured_ = 0;
};

void measure_gpu(Bench& bench, PowerTables& tables, const Nvml& gpu) {
    constexpr const char* kCounter = "the GPU's energy counter";
    const Counter counter = [&gpu] { return gpu.energy_j(); };
    tables.measure_load("power_idle", kCounter, "no work, with a context", "", counter,
                        sleep_work());
    fill_arena(bench);
    tables.measure_load("power_gemm", kCounter, "large products", "tflop", counter,
                        gemm_work(bench));
    tables.measure_load("power_attention", kCounter, "causal attention forward", "tflop", counter,
                        attention_work(bench));
    tables.measure_load("power_memory", kCounter, "copies within device memory, read plus write",
                        "gb", counter, memory_work(bench));
    ThreadPool pool(1);
    const HostRegion host(2 * kCopyBytes, "copies to measure the power of", pool, &bench.device);
    tables.measure_load("power_copy", kCounter,
                        "pinned copies of 64 MiB over the link, both ways at once", "gb", counter,
                        copy_work(bench, host));
}

void measure_processors(Bench& bench, PowerTables& tables, PackageEnergy& energy) {
    constexpr const char* kCounter = "the processors' energy counters (RAPL, all packages)";
    const Counter counter = [&energy] { return std::optional(energy.joules()); };
    tables.measure_load("power_cpu_idle", kCounter, "no work of ours", "", counter, sleep_work());
    OptimizerLoad load(bench);
    load.set(12, bench.optimizer_threads);
    tables.measure_load(
        "power_cpu_adam", kCounter,
        fmt::format("Adam of 12 byte states on {} threads", bench.optimizer_threads), "gparam",
        counter, [&load] {
            load.update();
            return static_cast<double>(load.parameters_per_update()) / kGiga;
        });
}

}  // namespace

void measure_power(Bench& bench, CaseRecord& record) {
    const auto gpu =
        bench.device_facts.is_gpu ? Nvml::open(attached_gpu_bus_id()) : std::unique_ptr<Nvml>();
    const bool gpu_counts = gpu != nullptr && gpu->energy_j();
    auto processors = PackageEnergy::open(SystemFiles("/"));
    PowerTables tables(bench, record,
                       (gpu_counts ? kGpuLoads : 0) + (processors ? kProcessorLoads : 0));
    if (gpu_counts) measure_gpu(bench, tables, *gpu);
    if (processors) measure_processors(bench, tables, *processors);
    if (bench.device_facts.is_gpu && !gpu_counts)
        record.warnings.emplace_back(
            "the GPU's energy was not measured: libnvidia-ml.so.1 of the driver is missing, or "
            "this GPU has no energy counter");
}

}  // namespace sluice
