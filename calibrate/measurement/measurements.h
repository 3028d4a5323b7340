// Which data does a calibration of one machine keep, before any fit? Profiles are made from it,
// interrupted calibrations continue from it, and repeated measurements are joined in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

/// Median and 5th to 95th percentile of repeated measurements, in their unit.
struct Sample {
    double median = 0;
    double low = 0;   ///< 5th percentile
    double high = 0;  ///< 95th percentile
    int count = 0;

    /// Range over median; 0 if the median is 0.
    double spread() const { return median == 0 ? 0 : (high - low) / median; }
};

/// Linear between order statistics (Hyndman and Fan 1996, type 7). Precondition: not empty, 0 <=
/// share <= 1.
double quantile(std::span<const double> values, double share);

/// Precondition: not empty.
Sample summarize(std::span<const double> values);

/// Turns a sample of times into one of rates: amount / time, low and high exchanged.
Sample rate_of(double amount, const Sample& seconds);

/// Errors of kernels or rates, as in a profile.
using FitError = HeldOutError;

/// Precondition: as many predicted as measured values, no measured value is 0. All 0 if there are
/// none.
FitError fit_error(std::span<const double> predicted, std::span<const double> measured);

/// For example `gemm_forward`: m, n, k, added, us, us_low, us_high, held_out.
struct CaseTable {
    std::string name;
    std::string method;  ///< one sentence: how it was measured
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows = {};

    /// Precondition: one number per column, all finite (InternalError).
    void add(std::vector<double> row);
    /// Throws InputError with the table's name if there is no such column.
    std::size_t column(std::string_view wanted) const;
    bool has(std::string_view column) const;
    double at(std::size_t row, std::string_view wanted) const { return rows[row][column(wanted)]; }
};

/// The machine as described by system and driver. Sizes in bytes.
struct MachineFacts {
    bool has_gpu = false;
    std::string gpu_name;  ///< "" without a GPU
    std::string cpu_name;
    std::string driver;          ///< of the GPU
    std::string activations;     ///< type in which kernels were measured: bf16 or fp32; "": none
    double multiprocessors = 0;  ///< 0: not a GPU, or not known
    double gpu_memory_bytes = 0;
    double gpu_context_bytes = 0;  ///< driver and libraries, after all kernels have run
    double gpu_power_limit_w = 0;  ///< 0: not known
    double host_memory_bytes = 0;
    double system_reserve_bytes = 0;
    double process_base_bytes = 0;  ///< resident with all libraries loaded, before any buffer
    double cpus = 0;                ///< logical ones that the process may use
    double physical_cores = 0;
    double compute_threads = 0;  ///< of the CPU's kernels, without a GPU
    double numa_nodes = 0;

    /// Only the host was measured: the GPU is another machine's, or not yet there.
    bool is_host_only() const { return !has_gpu && activations.empty(); }
};

/// A fact's name in the file, and its description for people if machines must agree in it; nullptr:
/// they may differ.
struct FactText {
    const char* key;
    std::string MachineFacts::*member;
    const char* shown;
};
inline constexpr FactText kFactTexts[] = {
    {"gpu_name", &MachineFacts::gpu_name, "the GPU"},
    {"cpu_name", &MachineFacts::cpu_name, "the processor"},
    {"driver", &MachineFacts::driver, "the driver"},
    {"activations", &MachineFacts::activations, "the activations' type"},
};
struct FactNumber {
    const char* key;
    double MachineFacts::*member;
    const char* shown = nullptr;
    double unit = 1,
           tolerance = 0;  ///< factor for display; relative difference that does not count
};
/// The share by which a virtual machine's memory size or a driver's reserve may change.
inline constexpr double kSameMemory = 0.03;
inline constexpr FactNumber kFactNumbers[] = {
    {"multiprocessors", &MachineFacts::multiprocessors, "the number of multiprocessors"},
    {"gpu_memory_bytes", &MachineFacts::gpu_memory_bytes, "GPU memory (GB)", 1e9, kSameMemory},
    {"gpu_context_bytes", &MachineFacts::gpu_context_bytes},
    {"gpu_power_limit_w", &MachineFacts::gpu_power_limit_w, "the GPU's power limit (W)"},
    {"host_memory_bytes", &MachineFacts::host_memory_bytes, "host memory (GB)", 1e9, kSameMemory},
    {"system_reserve_bytes", &MachineFacts::system_reserve_bytes},
    {"process_base_bytes", &MachineFacts::process_base_bytes},
    {"cpus", &MachineFacts::cpus, "the number of CPUs"},
    {"physical_cores", &MachineFacts::physical_cores},
    {"compute_threads", &MachineFacts::compute_threads, "--cpu-threads"},
    {"numa_nodes", &MachineFacts::numa_nodes, "the number of NUMA nodes"},
};

struct CaseRecord {
    std::string name;
    std::string date;    ///< of the measurement, 2026-11-21; pooled: of all days
    double seconds = 0;  ///< it took
    bool quick = false;
    std::vector<CaseTable> tables;
    std::vector<std::string> warnings;  ///< one sentence each, with numbers
};

struct Measurements {
    std::string id;    ///< of the profile
    std::string date;  ///< of the start; a case measured again has its own
    MachineFacts facts;
    std::vector<CaseRecord> cases;  ///< finished cases, in order
    /// Names of the files that these were pooled from; empty: not pooled.
    std::vector<std::string> pooled_files;

    /// Null if no case has measured it.
    const CaseTable* find(std::string_view table) const;
    /// The date of the case that measured the table; the date of the whole if none has.
    const std::string& date_of(std::string_view table) const;
    /// "2026-11-21", or "2026-11-21 to 2026-11-23" if cases are from several days.
    std::string days() const;
};

/// JSON text of the schema "sluice-measurements/1".
std::string measurements_json(const Measurements& measurements);

/// A case without a date has the date of the whole. Throws InputError: file, field, value,
/// expectation.
Measurements parse_measurements(std::string_view text, const std::string& file);

/// The differences, each as "the GPU is "B", was "A""; empty: one machine, as far as these facts
/// tell. Memory sizes may differ by 3%.
std::vector<std::string> machine_differences(const MachineFacts& before, const MachineFacts& now);

struct MeasurementsFile {
    Measurements measurements;
    std::string file;
};

/// In pooled windows of load: the index of the measurement, from 0. It also has its own rates
/// alone.
inline constexpr const char* kCalibrationColumn = "calibration";

/// Joins measurements of one machine; a single file is unchanged. Cases and tables are joined by
/// name and may be missing in some files. Rows of the same sizes and threads become one: the mean
/// of each value, the smallest `low` and the largest `high`, so that a range covers the machine's
/// drift. All windows of load (`mixed_load`) are kept. Dates become spans, seconds are added.
/// Precondition: at least one file. Throws InputError if one has another machine or name, or a
/// table has other columns.
Measurements pool_measurements(const std::vector<MeasurementsFile>& files);

}  // namespace sluice
