// All that was measured of one machine, before any fit: what a profile is made from, and what an
// interrupted calibration goes on from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// For example `gemm_forward`: m, n, k, added, us, us_low, us_high, held_out.
struct Table {
    std::string name;
    std::string method;  ///< one sentence: how it was measured
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;

    /// Precondition: one number a column, all finite (InternalError).
    void add(std::vector<double> row);
    /// Throws InputError naming the table where there is no such column.
    std::size_t column(std::string_view wanted) const;
    bool has(std::string_view column) const;
    double at(std::size_t row, std::string_view wanted) const { return rows[row][column(wanted)]; }
};

/// What the machine says of itself. Sizes in bytes.
struct MachineFacts {
    bool has_gpu = false;
    std::string gpu_name;  ///< "" without a GPU
    std::string cpu_name;
    std::string driver;          ///< of the GPU
    std::string activations;     ///< type the kernels were measured in: bf16 or fp32
    double multiprocessors = 0;  ///< 0: not a GPU, or not known
    double gpu_memory_bytes = 0;
    double gpu_context_bytes = 0;  ///< driver and libraries, after all kernels have run
    double gpu_power_limit_w = 0;  ///< 0: not known
    double host_memory_bytes = 0;
    double system_reserve_bytes = 0;
    double process_base_bytes = 0;  ///< resident with all libraries loaded, before any buffer
    double cpus = 0;                ///< logical, that the process may use
    double physical_cores = 0;
    double compute_threads = 0;  ///< of the CPU's kernels, without a GPU
    double numa_nodes = 0;
};

struct CaseRecord {
    std::string name;
    std::string date;    ///< of the day it was measured, 2026-11-21; pooled: of all days
    double seconds = 0;  ///< it took
    bool quick = false;
    std::vector<Table> tables;
    std::vector<std::string> warnings;  ///< one sentence each, with numbers
};

struct Measurements {
    std::string id;    ///< of the profile
    std::string date;  ///< when it was begun; a case measured again has its own
    MachineFacts facts;
    std::vector<CaseRecord> cases;  ///< those done, in order
    /// Names of the files that these were pooled from; empty: they were measured as they are.
    std::vector<std::string> pooled_files;

    /// Nothing where no case has measured it.
    const Table* find(std::string_view table) const;
    /// The date of the case that measured the table; the date of the whole if none has.
    const std::string& date_of(std::string_view table) const;
    /// "2026-11-21", or "2026-11-21 to 2026-11-23" where cases are of several days.
    std::string days() const;
};

/// JSON text of the schema "sluice-measurements/1".
std::string measurements_json(const Measurements& measurements);

/// A case without a date is of the whole's. Throws InputError: file, field, value, expected.
Measurements parse_measurements(std::string_view text, const std::string& file);

}  // namespace sluice
