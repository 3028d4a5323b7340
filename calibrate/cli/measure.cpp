#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/machine_watch.h"
#include "calibrate/cli/calibration_plan.h"
#include "calibrate/cli/progress.h"
#include "calibrate/cli/write_profile.h"
#include "calibrate/profile/make_profile.h"
#include "engine/device/device.h"
#include "engine/machine/host_facts.h"
#include "engine/machine/machine_here.h"
#include "engine/machine/stop_signals.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/write_file.h"
#include "sim/plan/schedules/streamed_buffers.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr int kInterrupted = 130;  // as shells report SIGINT

std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (const Case& one : all_cases()) names.emplace_back(one.name);
    return names;
}

const Case& case_named(const std::string& name) {
    for (const Case& one : all_cases())
        if (one.name == name) return one;
    throw InternalError("no case " + name);
}

std::optional<FormerMeasurements> read_former(const std::string& file) {
    if (!fs::exists(file)) return std::nullopt;
    return FormerMeasurements{parse_measurements(read_text_file(file), file), file};
}

void add_gpu(const DeviceFacts& device, const Nvml* gpu, MachineFacts& facts) {
    facts.has_gpu = true;
    facts.gpu_name = device.name;
    facts.gpu_memory_bytes = static_cast<double>(device.memory_capacity);
    facts.multiprocessors = device.multiprocessors;
    if (gpu == nullptr) return;
    facts.driver = gpu->driver_version().value_or("");
    facts.gpu_power_limit_w = gpu->power_limit_w().value_or(0);
}

/// `device` was just made: driver and libraries are loaded, and there are no buffers yet. `gpu` may
/// be null. Throws InputError if the system does not tell its memory size.
MachineFacts read_machine_facts(Device& device, const HostFacts& host, const Nvml* gpu,
                                int compute_threads) {
    const DeviceFacts device_facts = device.facts();
    const bool computes = device_facts.is_gpu || device.products() != nullptr;
    MachineFacts facts;
    std::optional<GpuFacts> gpu_facts;
    if (device_facts.is_gpu) {
        add_gpu(device_facts, gpu, facts);
        gpu_facts = GpuFacts{device_facts.name, device_facts.memory_capacity, device_facts.context};
    } else if (computes) {
        facts.compute_threads = compute_threads;
    }
    const MachineSpec machine = machine_here(host, gpu_facts);
    if (computes) facts.activations = device_facts.is_gpu ? "bf16" : "fp32";
    facts.cpu_name = host.cpu_model;
    facts.host_memory_bytes = static_cast<double>(machine.host.memory_capacity);
    facts.system_reserve_bytes = static_cast<double>(machine.host.system_reserve);
    facts.cpus = machine.host.cores;
    facts.physical_cores = host.cpus.empty() ? machine.host.cores : host.physical_cores();
    facts.numa_nodes = static_cast<double>(std::max<std::size_t>(1, host.nodes.size()));
    // If it cannot be read, the value of machine_here().
    facts.process_base_bytes =
        static_cast<double>(read_process_memory().resident().value_or(machine.host.process_base));
    return facts;
}

/// Bytes of device memory of driver and libraries, after all kernels have run: the used memory,
/// less the `arena` and other programs' memory.
double context_bytes(const Device& device, const Nvml* gpu, Bytes arena) {
    if (!device.facts().is_gpu) return 0;
    double others = 0;
    if (gpu != nullptr)
        if (const auto programs = gpu->other_programs()) others = programs->memory_bytes;
    return std::max(0.0, static_cast<double>(device.memory_in_use() - arena) - others);
}

/// A complete earlier file becomes NAME.DATE.json, or NAME.DATE.2.json if that exists.
void move_aside(const FormerMeasurements& former) {
    const fs::path path(former.file);
    fs::path aside;
    for (int count = 1; aside.empty() || fs::exists(aside); ++count)
        aside = path.parent_path() / fmt::format("{}.{}{}.json", path.stem().string(),
                                                 former.measurements.date,
                                                 count == 1 ? "" : fmt::format(".{}", count));
    fs::rename(path, aside);
    fmt::print(stderr, "{}: kept as {}\n", former.file, aside.string());
}

/// Anonymous bytes of the process without the bench's own: memory of device, handles and libraries.
double heap_without_buffers(const BenchMachine& machine) {
    const Bench& bench = *machine.bench;
    Bytes own = static_cast<Bytes>(machine.random.size() * sizeof(machine.random[0]));
    if (!bench.device_facts.is_gpu) own += bench.arena_bytes + kKernelWorkspace;
    return std::max(0.0, static_cast<double>(read_process_memory().anonymous.value_or(0) - own));
}

/// One run of the program over one machine.
class Calibration {
  public:
    explicit Calibration(const MeasureFlags& flags)
        : flags_(flags), file_(measurements_file(flags.out)), host_(read_host_facts()) {
        choose_cases(flags.only, case_names());  // reports a wrong name before anything starts
        former_ = read_former(file_);
        compute_threads_ = flags.cpu_threads > 0 ? flags.cpu_threads : default_cpu_threads(host_);
        device_ = make_device(flags.device, compute_threads_, host_);
        device_->attach_thread();
        if (device_->facts().is_gpu) gpu_ = Nvml::open(attached_gpu_bus_id());
    }

    int run() {
        make_plan();
        if (!plan_.cases.empty() && !measure_cases()) return kInterrupted;
        if (!flags_.makes_profile) {
            fmt::print(
                "{}: written; with the numbers of a GPU it makes a profile: {} fit {} --base "
                "MACHINE --out {}\n",
                file_, flags_.program, file_, flags_.out);
            return 0;
        }
        try {
            write_profile(plan_.start, flags_.out, flags_.base);
        } catch (const MissingCases& missing) {
            throw InputError(fmt::format("{}; measure them with: {}", missing.what(),
                                         command_for(flags_, missing.cases)));
        } catch (const InputError& error) {
            throw InputError(
                fmt::format("no profile yet: {} (the measurements are kept in {}: fit them "
                            "again with {} fit {} --out {})",
                            error.what(), file_, flags_.program, file_, flags_.out));
        }
        return 0;
    }

  private:
    void make_plan() {
        Measurements now;
        now.id = fs::path(flags_.out).stem().string();
        now.date = today();
        now.facts = read_machine_facts(*device_, host_, gpu_.get(), compute_threads_);
        if (!flags_.has_trainer) now.facts.process_base_bytes = 0;
        plan_ = plan_calibration(former_, now, flags_, case_names());
        if (plan_.keeps_former) move_aside(*former_);
        fs::create_directories(fs::path(file_).parent_path());
    }

    bool measure_cases() {
        busy_ = load_warnings(read_machine_load(host_, gpu_.get()));
        for (const std::string& warning : busy_) fmt::print(stderr, "warning: {}\n", warning);
        const auto machine =
            make_bench(std::move(device_), host_,
                       {.optimizer_threads = std::max(1, static_cast<int>(plan_.start.facts.cpus)),
                        .compute_threads = compute_threads_,
                        .quick = flags_.quick,
                        .storage_folder = flags_.storage});
        libraries_heap_ = heap_without_buffers(*machine);
        std::optional<ClockWatch> watch;
        if (gpu_) watch.emplace(*gpu_);
        std::vector<PlannedCase> planned;
        for (const std::string& name : plan_.cases) {
            const Case& one = case_named(name);
            planned.push_back({name, is_quick(name) ? one.quick_seconds : one.seconds});
        }
        Progress progress(planned, stderr, isatty(STDERR_FILENO) == 1);
        machine->bench->progress = [&](double share) { progress.report(share); };
        const std::size_t done = run_cases(
            flags_, file_, plan_.cases,
            [&](const std::string& name) {
                measure_case(case_named(name), *machine->bench, watch, progress);
            },
            stop_requested);
        return done == plan_.cases.size() || interrupted(done);
    }

    bool is_quick(const std::string& name) const {
        return flags_.quick ||
               std::ranges::find(flags_.quick_cases, name) != flags_.quick_cases.end();
    }

    void measure_case(const Case& one, Bench& bench, std::optional<ClockWatch>& watch,
                      Progress& progress) {
        CaseRecord record;
        record.name = one.name;
        record.quick = bench.quick = is_quick(one.name);
        if (watch) watch->take();
        progress.begin();
        const Seconds start = host_seconds();
        one.run(bench, record);
        record.seconds = host_seconds() - start;
        std::string clocks;
        if (watch) {
            const ClockRecord seen = watch->take();
            for (std::string& warning : clock_warnings(seen))
                record.warnings.push_back(std::move(warning));
            clocks = clock_summary(seen);
        }
        progress.end(record.seconds, clocks);
        for (const std::string& warning : record.warnings)
            fmt::print(stderr, "warning: {}\n", warning);
        // Shown already; they concern the whole run, and the first case keeps them.
        record.warnings.insert(record.warnings.begin(), busy_.begin(), busy_.end());
        busy_.clear();
        store(std::move(record), bench);
    }

    void store(CaseRecord record, const Bench& bench) {
        if (flags_.has_trainer) add_memory_of_libraries(bench);
        store_case(plan_.start, std::move(record), today(), case_names());
        write_file(file_, measurements_json(plan_.start));
    }

    void add_memory_of_libraries(const Bench& bench) {
        MachineFacts& facts = plan_.start.facts;
        facts.gpu_context_bytes =
            std::max(facts.gpu_context_bytes,
                     context_bytes(bench.device, gpu_.get(), bench.arena_bytes + kKernelWorkspace));
        const double process =
            libraries_heap_ + static_cast<double>(read_process_memory().file.value_or(0));
        facts.process_base_bytes = std::max(facts.process_base_bytes, process);
    }

    bool interrupted(std::size_t done) const {
        const std::vector<std::string> left(plan_.cases.begin() + static_cast<std::ptrdiff_t>(done),
                                            plan_.cases.end());
        fmt::print(stderr, "interrupted after {} of {} cases, which are in {}; continue with: {}\n",
                   done, plan_.cases.size(), file_, command_to_go_on(flags_, left));
        return false;
    }

    const MeasureFlags& flags_;
    std::string file_;
    HostFacts host_;
    std::optional<FormerMeasurements> former_;
    int compute_threads_ = 1;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Nvml> gpu_;
    CalibrationPlan plan_;
    double libraries_heap_ = 0;
    std::vector<std::string> busy_;  ///< warnings from before the first case, which keeps them
};

}  // namespace

int measure(const MeasureFlags& flags) {
    check_profile_file(flags.out, flags.base);
    if (flags.base) read_base_profile(*flags.base, "--base");  // now, not after the last case
    if (!fs::is_directory(flags.storage))
        throw InputError(fmt::format(
            "--storage is {}, expected a folder; name one on the disk to measure", flags.storage));
    stop_on_signals("\nstopping after this case; press Ctrl-C again to stop at once\n");
    return Calibration(flags).run();
}

std::string case_list() {
    std::string out = fmt::format("{:<18} {:>7} {:>7}  {}\n", "case", "seconds", "--quick",
                                  "question (seconds: about, on an H200)");
    Seconds sum = 0, quick = 0;
    for (const Case& one : all_cases()) {
        out += fmt::format("{:<18} {:>7g} {:>7g}  {}\n", one.name, one.seconds, one.quick_seconds,
                           one.question);
        sum += one.seconds;
        quick += one.quick_seconds;
    }
    return out + fmt::format("{:<18} {:>7g} {:>7g}\n", "all", sum, quick);
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

}  // namespace sluice
