// What a prediction (or a measured run) says: fit, speed, where the time goes, memory. Plain
// values; see the writers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/format.h"
#include "sim/plan/step_plan.h"
#include "sim/plan/step_timeline.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Share of a resource's capacity that a steady step uses.
struct Utilization {
    std::string resource;
    double share = 0;
};

/// A change of settings with which the plan fits.
struct Suggestion {
    std::string change;     ///< as flags
    TrainingSpec training;  ///< with the change
    Bytes device_peak = 0;
    Bytes host_peak = 0;
};

/// No settings that fit were found; what would help.
struct NoSuggestion {
    bool shorter_sequence = false;
    Bytes host_memory_most = 0;  ///< that the machine can have, where it is short; 0: as it has
};

/// What would hide a lane that compute waits for.
struct Remedy {
    Lane lane = Lane::compute;
    std::string sentence;  ///< "H2D 61 GB/s would hide the weights"
};

/// The precision of activations; a plan counts bf16.
enum class Precision : std::uint8_t { bf16, fp32 };
inline const char* precision_name(Precision precision) {
    return precision == Precision::fp32 ? "fp32" : "bf16";
}

/// With fewer steps, 5% and 95% are the fastest and the slowest.
inline constexpr int kFewSteps = 20;

struct StepReport {
    // What was asked.
    std::string model_name;
    std::string model_note;
    std::string schedule_note;
    std::int64_t parameters = 0;
    std::int64_t active_parameters = 0;
    int layers = 0;
    bool tied_embeddings = false;
    std::string machine_id;
    std::string machine_name;
    std::vector<std::string> machine_changes;  ///< what-if values, as flags
    TrainingSpec training;

    // Memory; holds also where the plan does not fit.
    Fit fit;
    Bytes device_capacity = 0;
    Bytes device_context = 0;
    Bytes host_capacity = 0;
    Bytes host_between_steps = 0;
    bool unified_memory = false;
    std::vector<HostMoment> host_timeline;
    std::vector<Buffer> buffers;          ///< of the plan; Operation::uses are indices of them
    std::vector<Suggestion> suggestions;  ///< only where it does not fit
    std::optional<NoSuggestion> no_suggestion;

    // Time of the steady step. A plan that does not fit is simulated nevertheless.
    bool measured = false;      ///< by the trainer, not predicted
    Bytes measured_device = 0;  ///< only measured: most in use as the driver says, less the context
    Bytes measured_host = 0;    ///< only measured: most resident in the process
    int steps_measured = 0;     ///< only measured: that `step` is the median of; 0: not known
    Precision precision = Precision::bf16;
    /// 5% and 95% of the steps take less: of those measured (of fewer than kFewSteps the fastest
    /// and the slowest), or as add_band() expects; else 0.
    Seconds step_low = 0, step_high = 0;
    Seconds step = 0;
    Seconds first_step = 0;
    Flops executed_flops = 0;  ///< with recomputation
    StepProgram program;
    std::vector<OperationInterval> operations;  ///< of the steady step, one an operation
    LaneTimes lanes{};
    std::array<double, kLaneCount> critical_shares{};  ///< of the step, by lane; sum 1
    std::vector<Utilization> utilization;
    std::string bottleneck;        ///< the resource's name
    std::string bottleneck_words;  ///< one sentence
    std::vector<Remedy> remedies;

    // Money; only where the machine's profile has a rent.
    double usd_per_hour = 0;      ///< of all GPUs that train
    std::string usd_per_hour_of;  ///< "Lambda, rented, 2026-06"

    // How far to trust it.
    Confidence confidence = Confidence::datasheet;
    std::vector<std::string> assumptions;

    double tokens_per_s() const { return tokens_per_s_at(step); }
    double tokens_per_s_at(Seconds one_step) const {
        return static_cast<double>(training.tokens()) / one_step;
    }
    bool has_band() const { return step_high > 0; }
    bool has_price() const { return usd_per_hour > 0; }
    double usd_per_million_tokens_at(Seconds one_step) const {
        return kMega * usd_per_hour / 3600 / tokens_per_s_at(one_step);
    }
    /// 6 P T: six FLOPs a parameter and token, whatever is recomputed. P are the active parameters.
    double model_flops_per_s() const {
        return 6 * static_cast<double>(active_parameters) * tokens_per_s();
    }
    double executed_flops_per_s() const { return executed_flops / step; }
};

/// Lane name as people say it: "H2D", "compute", "D2H", "optimizer", "host", "read", "write".
const char* lane_label(Lane lane);
/// "backward 12", "loss", "weights in (embedding)": an operation and its layer.
std::string operation_label(const Operation& operation, int layers);

/// A memory that is too small.
struct Shortage {
    std::string memory;  ///< "device", "shared memory"
    Bytes needed = 0, usable = 0;
    MemoryKind largest{};  ///< of what is needed
    Bytes of_largest = 0;
};
std::vector<Shortage> find_shortages(const StepReport& report);
/// "device needs 151.2 GB, has 139.8 GB (short 11.4 GB); largest: activations 88.0 GB".
std::string shortage_text(const Shortage& shortage, const BytesText& bytes = format_bytes);
/// One a memory that is too small.
std::vector<std::string> shortages(const StepReport& report, const BytesText& bytes = format_bytes);

/// "no nearby setting fits: fewer --layers or a larger machine is needed".
std::string no_suggestion_text(const NoSuggestion& none, const BytesText& bytes = format_bytes);

/// One screen.
std::string report_text(const StepReport& report);
/// All of it, the operations only of a measured step; keys carry units.
std::string report_json(const StepReport& report);
/// Chrome trace event format: opens in Perfetto (ui.perfetto.dev) and chrome://tracing.
std::string report_chrome_trace(const StepReport& report);
/// The same of two reports of one plan, each lane of the one above the same lane of the other; both
/// start with the step's first compute operation.
std::string overlay_chrome_trace(const StepReport& predicted, const StepReport& measured);
/// Lanes over one steady step, with what compute waits for.
std::string report_svg(const StepReport& report);
/// The operations of the plan, one a line.
std::string report_operations(const StepReport& report);

}  // namespace sluice
