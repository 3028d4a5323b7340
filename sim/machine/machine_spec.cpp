#include "sim/machine/machine_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/input_error.h"

namespace sluice {
namespace {

// Ratios measured on the H200 (hwprofiles/h200-pcie5-16vcpu-128gib.json) that fill the gaps of
// other profiles.
constexpr double kSustainedOfBest =
    671.2 / 794.5;  // large products under the power limit, of the best product
constexpr double kSustainedOfDense = 671.2 / 989;        // ... of the dense datasheet rate
constexpr double kAchievedOfPeakMemory = 4260.0 / 4800;  // device copy, of the datasheet bandwidth
constexpr double kStreamOfPeak = 0.85;                   // host memory, of channels times rate

/// What pinned copies reach: one way, of the link's raw rate; both at once, of the sum of one way
/// each.
struct LinkShares {
    double host_to_device, device_to_host, both_ways;
};
constexpr LinkShares kPcie = {55.3 / 63, 55.4 / 63, 95.7 / 110.7};  // the H200 measured
constexpr LinkShares kChipLink = {380.0 / 450, 297.5 / 450,
                                  368.0 / 677.5};  // NVLink-C2C of the GH200 with 480 GB

class Resolver {
  public:
    explicit Resolver(const MachineProfile& profile) : p_(profile) {}

    MachineSpec resolve() {
        m_.id = p_.id;
        m_.name = p_.name;
        m_.unified_memory = p_.flag("host.unified_memory");
        resolve_gpu();
        resolve_attention();
        resolve_link();
        resolve_host();
        resolve_adam();
        resolve_host_work();
        if (constants_assumed_)
            m_.assumptions.push_back(
                "launch overheads and the sizes of context and process are the H200 machine's");
        return std::move(m_);
    }

  private:
    const Quantity* known(std::string_view path) const {
        const Quantity* quantity = p_.find(path);
        return quantity != nullptr && quantity->value ? quantity : nullptr;
    }

    /// The number at `path`; a rate that is not measured here weakens the prediction's confidence.
    double take(const Quantity& quantity, bool is_rate = true) {
        if (is_rate && quantity.method != Method::measured) {
            weaken(Confidence::datasheet);
            m_.assumptions.push_back(fmt::format(
                "{} {:g} is {} ({})", quantity.path, *quantity.value,
                quantity.method == Method::datasheet ? "a datasheet value" : "an estimate",
                quantity.note.empty() ? quantity.source : quantity.note));
        }
        return *quantity.value;
    }

    double required(std::string_view path, bool is_rate = true) {
        const Quantity* quantity = p_.find(path);
        if (quantity == nullptr)
            throw InputError(fmt::format("{}: {} is missing; add it", p_.file, path));
        if (!quantity->value) {
            throw InputError(
                fmt::format("{}: {} is not known ({}), so no step can be predicted; give it with "
                            "--set {}=NUMBER",
                            p_.file, path, quantity->note, path));
        }
        return take(*quantity, is_rate);
    }

    void weaken(Confidence to) { m_.confidence = std::max(m_.confidence, to); }

    double transferred(double value, std::string sentence) {
        weaken(Confidence::transferred);
        m_.assumptions.push_back(std::move(sentence));
        return value;
    }

    /// A small constant (an overhead, a context's size) that hardly moves a prediction: the H200's
    /// where it is missing.
    double constant(std::string_view path, double h200) {
        if (const Quantity* quantity = known(path)) return *quantity->value;
        constants_assumed_ = true;
        return h200;
    }

    void resolve_gpu() {
        GpuSpec& gpu = m_.gpu;
        m_.confidence = Confidence::measured;
        gpu.name = p_.text("gpu.name");
        gpu.memory_capacity = static_cast<Bytes>(required("gpu.memory_capacity_gb", false) * kGiga);
        gpu.context = static_cast<Bytes>(constant("gpu.context_gb", 0.878) * kGiga);
        gpu.multiprocessors =
            known("gpu.multiprocessors") != nullptr ? *known("gpu.multiprocessors")->value : 1;
        if (const Quantity* achieved = known("gpu.memory_bandwidth_achieved_gb_per_s")) {
            gpu.memory_bandwidth = take(*achieved) * kGiga;
        } else {
            const double peak = required("gpu.memory_bandwidth_gb_per_s", false);
            gpu.memory_bandwidth = transferred(
                kAchievedOfPeakMemory * peak * kGiga,
                fmt::format(
                    "device memory reaches {:.2f} of its {:g} GB/s, as on the H200 measured",
                    kAchievedOfPeakMemory, peak));
        }
        gpu.gemm_flops_per_s = resolve_gemm() * kTera;
        gpu.gemm_overhead = constant("kernels.gemm_overhead_us", 4) / kMega;
        gpu.launch = constant("kernels.launch_us", 1.09) / kMega;
        gpu.narrow_head_share = constant("kernels.attention_narrow_head_share", 0.8);
        gpu.eager_launch = constant("kernels.eager_launch_us", 5) / kMega;
        gpu.first_step_extra = constant("kernels.first_step_extra_s", 0.5);
    }

    double resolve_gemm() {
        if (const Quantity* sustained = known("kernels.gemm_sustained_tflops"))
            return take(*sustained);
        if (const Quantity* best = known("gpu.bf16_achieved_gemm_tflops")) {
            return transferred(kSustainedOfBest * *best->value,
                               fmt::format("large bf16 products sustain {:.2f} of the best {:g} "
                                           "TFLOPS, as on the H200 measured",
                                           kSustainedOfBest, *best->value));
        }
        const double dense = required("gpu.bf16_dense_tflops", false);
        return transferred(kSustainedOfDense * dense,
                           fmt::format("large bf16 products sustain {:.2f} of the dense {:g} "
                                       "TFLOPS, as on the H200 measured",
                                       kSustainedOfDense, dense));
    }

    /// A curve of TFLOPS by sequence length; without one, the H200's scaled by the matrix rate.
    Interpolated attention_curve(const char* name, const std::array<double, 7>& h200_tflops) {
        static constexpr std::array<double, 7> kSequences = {512,  1024,  2048,  4096,
                                                             8192, 32768, 131072};
        std::vector<std::pair<double, double>> points;
        if (const Curve* curve =
                p_.find_curve(fmt::format("kernels.attention_{}_tflops_by_sequence", name))) {
            for (const auto& row : curve->points) points.emplace_back(row[0], row[1] * kTera);
        } else {
            const double scale = m_.gpu.gemm_flops_per_s / kH200Gemm;
            for (std::size_t i = 0; i < kSequences.size(); ++i)
                points.emplace_back(kSequences[i], h200_tflops[i] * scale * kTera);
            weaken(Confidence::transferred);
        }
        return Interpolated(std::move(points));
    }

    void resolve_attention() {
        GpuSpec& gpu = m_.gpu;
        gpu.flash_attention.forward =
            attention_curve("flash_forward", {199, 263, 297, 322, 334, 343, 333});
        gpu.flash_attention.backward =
            attention_curve("flash_backward", {146, 202, 247, 279, 299, 320, 326});
        gpu.fused_attention.forward =
            attention_curve("cudnn_forward", {340, 425, 484, 528, 561, 591, 558});
        gpu.fused_attention.backward =
            attention_curve("cudnn_backward", {206, 301, 387, 450, 495, 536, 539});
        if (p_.find_curve("kernels.attention_cudnn_forward_tflops_by_sequence") == nullptr) {
            m_.assumptions.push_back(
                "attention reaches the share of the matrix rate that it does on the H200 measured");
        }
    }

    double one_way(const char* path, double share_of_raw) {
        if (const Quantity* rate = known(path)) return take(*rate) * kGiga;
        const double raw = required("link.raw_per_direction_gb_per_s", false);
        return transferred(share_of_raw * raw * kGiga,
                           fmt::format("{} is not published: {:.3f} of the raw {:g} GB/s, as "
                                       "measured on another machine with such a link",
                                       path, share_of_raw, raw));
    }

    void resolve_link() {
        LinkSpec& link = m_.link;
        link.type = p_.text("link.type");
        const LinkShares& shares = link.type.find("C2C") != std::string::npos ? kChipLink : kPcie;
        link.host_to_device = one_way("link.host_to_device_gb_per_s", shares.host_to_device);
        link.device_to_host = one_way("link.device_to_host_gb_per_s", shares.device_to_host);
        const Quantity* in = known("link.both_ways_host_to_device_gb_per_s");
        const Quantity* out = known("link.both_ways_device_to_host_gb_per_s");
        if (m_.unified_memory) {
            link.both_ways_total = std::max(link.host_to_device, link.device_to_host);
        } else if (in != nullptr && out != nullptr) {
            link.both_ways_total = (take(*in) + take(*out)) * kGiga;
        } else {
            link.both_ways_total = transferred(
                shares.both_ways * (link.host_to_device + link.device_to_host),
                fmt::format("copies both ways at once reach {:.2f} of what each way reaches alone, "
                            "as measured on another machine with such a link",
                            shares.both_ways));
        }
        const Quantity* pageable = known("link.other.pageable_host_to_device_gb_per_s");
        link.pageable_host_to_device =
            std::min(link.host_to_device, (pageable != nullptr ? *pageable->value : 10.1) * kGiga);
        if (const Curve* curve = p_.find_curve("link.curve.host_to_device_gb_per_s_by_bytes")) {
            std::vector<std::pair<double, double>> share;
            const double full = curve->points.back()[1];
            for (const auto& row : curve->points) share.emplace_back(row[0], row[1] / full);
            link.share_by_bytes = Interpolated(std::move(share));
        }
    }

    void resolve_host() {
        HostSpec& host = m_.host;
        host.memory_capacity = static_cast<Bytes>(host_capacity_gb() * kGiga);
        host.cores = required("host.cores", false);
        host.process_base = static_cast<Bytes>(constant("host.process_base_gb", 1.0) * kGiga);
        host.system_reserve = static_cast<Bytes>(constant("host.system_reserve_gb", 3.3) * kGiga);
        double stream = 0;
        if (const Quantity* fitted = known("host.memory_bandwidth_shared_gb_per_s")) {
            stream = take(*fitted);
        } else if (const Quantity* measured = known("host.memory_bandwidth_stream_gb_per_s")) {
            stream = take(*measured);
        } else {
            const double peak = required("host.memory_bandwidth_gb_per_s");
            stream = transferred(
                kStreamOfPeak * peak,
                fmt::format("host memory reaches {:.2f} of its {:g} GB/s", kStreamOfPeak, peak));
        }
        // A copy engine can reach more than STREAM does (GH200: 380 against 348 GB/s).
        host.dram_bandwidth =
            std::max({stream * kGiga, m_.link.host_to_device, m_.link.device_to_host});
        stream_ = stream * kGiga;
        if (const Quantity* weight = known("host.copy_traffic_weight"))
            host.copy_weight = take(*weight);
    }

    double host_capacity_gb() {
        const Quantity* capacity = known("host.memory_capacity_gb");
        if (capacity == nullptr) {
            throw InputError(
                fmt::format("{}: host.memory_capacity_gb is not known ({}); give --host-memory, as "
                            "in --host-memory 1TB",
                            p_.file,
                            p_.find("host.memory_capacity_gb") != nullptr
                                ? p_.find("host.memory_capacity_gb")->note
                                : "missing"));
        }
        return *capacity->value;
    }

    void resolve_adam() {
        HostSpec& host = m_.host;
        std::vector<std::pair<double, double>> points;
        const double traffic = known("host.adam_bytes_per_parameter") != nullptr
                                   ? *known("host.adam_bytes_per_parameter")->value
                                   : 26;
        if (const Curve* curve = p_.find_curve("host.adam_gparams_per_s_by_threads")) {
            for (const auto& row : curve->points)
                points.emplace_back(row[0], row[1] * kGiga * traffic);
        } else {
            double full = stream_;
            if (const Quantity* rate = known("host.adam_gparams_per_s")) {
                full = take(*rate) * kGiga * traffic;
            } else {
                weaken(Confidence::transferred);
                m_.assumptions.push_back(
                    fmt::format("the optimizer moves what host memory gives ({:.0f} GB/s) with "
                                "half of the cores or more",
                                stream_ / kGiga));
            }
            const double enough = std::max(2.0, host.cores / 2);
            points = {{1, full / enough}, {enough, full}};
        }
        const auto best =
            std::max_element(points.begin(), points.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        host.best_adam_threads = static_cast<int>(std::min(best->first, host.cores));
        host.adam_bytes_per_s = Interpolated(std::move(points));
    }

    /// A rate of host work: measured here, or the H200 machine's scaled by memory bandwidth.
    double host_rate(const char* name, double h200_gb_per_s) {
        if (const Quantity* rate = known(fmt::format("host.work.{}_gb_per_s", name)))
            return take(*rate) * kGiga;
        weaken(Confidence::transferred);
        return h200_gb_per_s * kGiga * stream_ / kH200Shared;
    }

    void resolve_host_work() {
        HostSpec& host = m_.host;
        host.memory_copy = host_rate("copy", 52);
        host.first_touch = host_rate("first_touch_copy", 26.2);
        host.zero = host_rate("zero", 78.6);
        host.release = host_rate("release", 44.3);
        host.norm_and_scale = host_rate("norm_and_scale", 7.37);
        host.eager_adam_bytes_per_s = host_rate("bf16_master_adam", 176.9);
    }

    static constexpr double kH200Gemm = 671.2e12;
    static constexpr double kH200Shared =
        177e9;  // host memory that the rates below were measured with

    const MachineProfile& p_;
    MachineSpec m_;
    double stream_ = 0;
    bool constants_assumed_ = false;
};

}  // namespace

const char* confidence_name(Confidence confidence) {
    switch (confidence) {
        case Confidence::measured:
            return "measured";
        case Confidence::transferred:
            return "transferred";
        case Confidence::datasheet:
            return "datasheet";
    }
    return "";
}

double Interpolated::at(double x) const {
    if (x <= points_.front().first) return points_.front().second;
    if (x >= points_.back().first) return points_.back().second;
    const auto above =
        std::upper_bound(points_.begin(), points_.end(), x,
                         [](double value, const auto& point) { return value < point.first; });
    const auto& [x1, y1] = *above;
    const auto& [x0, y0] = *(above - 1);
    const double share = (std::log(x) - std::log(x0)) / (std::log(x1) - std::log(x0));
    return y0 + share * (y1 - y0);
}

MachineSpec resolve_machine(const MachineProfile& profile) { return Resolver(profile).resolve(); }

}  // namespace sluice
