#include "engine/machine/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

namespace sluice {

namespace {

// From nvml.h (NVML API reference, release 580), so that no CUDA toolkit is needed.
constexpr int kSuccess = 0;
constexpr int kFunctionNotFound = 13;  // NVML_ERROR_FUNCTION_NOT_FOUND
constexpr int kInsufficientSize = 7;
constexpr int kClockSm = 1;              // NVML_CLOCK_SM
constexpr int kTemperatureGpu = 0;       // NVML_TEMPERATURE_GPU
constexpr int kSlowdownThreshold = 1;    // NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
constexpr int kNvlinkCapability = 2;     // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int kPeerStatusOk = 0;         // NVML_P2P_STATUS_OK
constexpr unsigned kVersionLength = 80;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE

constexpr int kUncorrected = 1;              // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int kSinceDriver = 0;              // NVML_VOLATILE_ECC
constexpr unsigned long long kXidEvent = 8;  // nvmlEventTypeXidCriticalError

struct EventData {  // nvmlEventData_t
    void* device;
    unsigned long long type, data;
    unsigned gpu_instance_id, compute_instance_id;
};
struct Utilization {  // nvmlUtilization_t
    unsigned gpu, memory;
};
struct ProcessInfo {  // nvmlProcessInfo_t of the _v3 functions
    unsigned pid;
    unsigned long long used_gpu_memory;
    unsigned gpu_instance_id, compute_instance_id;
};
constexpr unsigned long long kMemoryNotAvailable = std::numeric_limits<unsigned long long>::max();

/// All processes except this one. In a container the driver may report process ids of the machine
/// around it; this process, which has no arena yet, is then the one with the least memory.
OtherGpuPrograms without_own(std::vector<ProcessInfo> infos) {
    if (infos.empty()) return {};
    auto own = std::find_if(infos.begin(), infos.end(), [](const ProcessInfo& info) {
        return info.pid == static_cast<unsigned>(getpid());
    });
    if (own == infos.end()) {
        own = std::min_element(infos.begin(), infos.end(), [](const auto& a, const auto& b) {
            return a.used_gpu_memory < b.used_gpu_memory;
        });
    }
    infos.erase(own);
    OtherGpuPrograms others;
    others.count = static_cast<int>(infos.size());
    for (const ProcessInfo& info : infos) {
        if (info.used_gpu_memory != kMemoryNotAvailable)
            others.memory_bytes += static_cast<double>(info.used_gpu_memory);
    }
    return others;
}

}  // namespace

/// The initialized library, until the last Nvml is destroyed.
struct Nvml::Library {
    void* handle = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    bool initialized = status("nvmlInit_v2") == kSuccess;

    Library() = default;
    ~Library() {
        if (initialized) status("nvmlShutdown");
        if (handle != nullptr) dlclose(handle);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    /// The status that the function of that name returns. Its parameters have exactly these types.
    template <typename... Arguments>
    int status(const char* name, Arguments... arguments) const {
        void* const symbol = handle == nullptr ? nullptr : dlsym(handle, name);
        if (symbol == nullptr) return kFunctionNotFound;
        return reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
    }
};

template <typename Value, typename... Which>
std::optional<Value> Nvml::read(const char* name, Which... which) const {
    Value value{};
    if (library_->status(name, device_, which..., &value) != kSuccess) return std::nullopt;
    return value;
}

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) {
    auto library = std::make_shared<const Library>();
    void* device = nullptr;
    if (!library->initialized || library->status("nvmlDeviceGetHandleByPciBusId_v2",
                                                 pci_bus_id.c_str(), &device) != kSuccess)
        return nullptr;
    return std::unique_ptr<Nvml>(new Nvml(std::move(library), device));
}

Nvml::Nvml(std::shared_ptr<const Library> library, void* device)
    : library_(std::move(library)), device_(device) {
    if (library_->status("nvmlEventSetCreate", &faults_) != kSuccess) faults_ = nullptr;
    if (faults_ != nullptr)
        library_->status("nvmlDeviceRegisterEvents", device_, kXidEvent, faults_);
}
Nvml::~Nvml() {
    if (faults_ != nullptr) library_->status("nvmlEventSetFree", faults_);
}

std::optional<std::string> Nvml::driver_version() const {
    std::array<char, kVersionLength> version{};
    if (library_->status("nvmlSystemGetDriverVersion", version.data(), kVersionLength) != kSuccess)
        return std::nullopt;
    return std::string(version.data());
}

std::optional<double> Nvml::energy_j() const {
    const auto millijoules = read<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption");
    if (!millijoules) return std::nullopt;
    return 1e-3 * static_cast<double>(*millijoules);
}

std::optional<double> Nvml::power_limit_w() const {
    const auto milliwatts = read<unsigned>("nvmlDeviceGetEnforcedPowerLimit");
    if (!milliwatts) return std::nullopt;
    return 1e-3 * *milliwatts;
}

std::optional<double> Nvml::sm_clock_mhz() const {
    return read<unsigned>("nvmlDeviceGetClockInfo", kClockSm);
}

std::optional<std::uint64_t> Nvml::clock_event_bits() const {
    const auto bits = read<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons");
    // Its name before driver 535.
    return bits ? bits : read<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons");
}

std::optional<double> Nvml::temperature_c() const {
    return read<unsigned>("nvmlDeviceGetTemperature", kTemperatureGpu);
}

std::optional<double> Nvml::slowdown_temperature_c() const {
    return read<unsigned>("nvmlDeviceGetTemperatureThreshold", kSlowdownThreshold);
}

std::optional<double> Nvml::busy_share() const {
    const auto utilization = read<Utilization>("nvmlDeviceGetUtilizationRates");
    if (!utilization) return std::nullopt;
    return utilization->gpu / 100.0;
}

std::optional<std::uint64_t> Nvml::uncorrected_memory_errors() const {
    return read<unsigned long long>("nvmlDeviceGetTotalEccErrors", kUncorrected, kSinceDriver);
}

std::optional<bool> Nvml::row_remapping_pending() const {
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (library_->status("nvmlDeviceGetRemappedRows", device_, &corrected, &uncorrected, &pending,
                         &failed) != kSuccess)
        return std::nullopt;
    return pending != 0 || failed != 0;
}

std::optional<std::uint64_t> Nvml::fault(Seconds most) const {
    EventData event{};
    const auto milliseconds = static_cast<unsigned>(1e3 * most);
    if (faults_ == nullptr ||
        library_->status("nvmlEventSetWait_v2", faults_, &event, milliseconds) != kSuccess ||
        event.type != kXidEvent)
        return std::nullopt;
    return event.data;
}

std::optional<OtherGpuPrograms> Nvml::other_programs() const {
    std::vector<ProcessInfo> infos(64);
    auto count = static_cast<unsigned>(infos.size());
    const int status =
        library_->status("nvmlDeviceGetComputeRunningProcesses_v3", device_, &count, infos.data());
    // With more than 64, those that fit are enough for a warning.
    if (status != kSuccess && status != kInsufficientSize) return std::nullopt;
    infos.resize(std::min<std::size_t>(count, infos.size()));
    return without_own(std::move(infos));
}

std::optional<bool> Nvml::nvlink_to(const Nvml& other) const {
    const auto status = read<int>("nvmlDeviceGetP2PStatus", other.device_, kNvlinkCapability);
    if (!status) return std::nullopt;
    return *status == kPeerStatusOk;
}

}  // namespace sluice
