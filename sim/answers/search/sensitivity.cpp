#include "sim/answers/search/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "sim/answers/predict/predict.h"
#include "sim/answers/predict/prediction_band.h"
#include "sim/answers/search/nearby_settings.h"
#include "sim/answers/search/next_gpu.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_text.h"
#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/machine_number.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

using Change = std::function<MachineSpec(const MachineSpec&)>;

/// Numbers of a profile, by path.
using Numbers = std::vector<std::pair<std::string, double>>;

/// A change of the machine, before it is tried.
struct Candidate {
    std::string name;
    Change change;
    bool replaces_gpu = false;
    Numbers numbers = {};  ///< of the profile, that should make the change
};

/// Rounded as people read and type it.
std::pair<std::string, double> number(std::string_view path, double value) {
    constexpr int kDigits = 7;
    return {std::string(path), rounded(value, kDigits)};
}

/// As with_device_memory(), of unified memory as with_host_memory() too.
Numbers device_memory_numbers(const MachineSpec& machine, Bytes capacity) {
    Numbers out = {number("gpu.memory_capacity_gb", static_cast<double>(capacity) / kGiga)};
    const double added = static_cast<double>(capacity - machine.gpu.memory_capacity);
    if (machine.unified_memory)
        out.push_back(number("host.memory_capacity_gb",
                             (static_cast<double>(machine.host.memory_capacity) + added) / kGiga));
    return out;
}

/// As with_faster(): what the profile knows of both ways and of pageable copies changes too.
Numbers link_numbers(const MachineProfile& profile, const MachineSpec& machine, double factor) {
    Numbers out;
    MachineSpec before = machine, faster = with_faster(machine, part::link, factor);
    for (const MachineNumber& row : machine_table()) {
        if ((row.parts & part::link) == 0 || row.kind != ValueKind::number) continue;
        const auto* const rate = std::get_if<double& (*)(MachineSpec&)>(&row.member);
        const double times = rate != nullptr ? (*rate)(faster) / (*rate)(before) : factor;
        const Quantity* const known = profile.find(row.path);
        if (known != nullptr && known->value) {
            out.push_back(number(row.path, times * *known->value));
        } else if (row.group == RateGroup::link && row.judges_group) {
            MachineSpec copy = machine;
            out.push_back(number(
                row.path,
                factor * std::get<double& (*)(MachineSpec&)>(row.member)(copy) / row.in_si(1)));
        }
    }
    return out;
}

/// The profile with these numbers; nothing where it takes none of them.
std::optional<MachineSpec> machine_with(MachineProfile profile, const Numbers& numbers) {
    try {
        for (const auto& [path, value] : numbers) profile.set(path, value);
        return resolve_machine(profile);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

/// Whether the profile with these numbers predicts the step of the changed machine: its rules may
/// change other rates with them.
bool same_step(const ModelSpec& model, const MachineProfile& profile, const Numbers& numbers,
               const NearbySettings& after) {
    if (numbers.empty()) return false;
    const auto machine = machine_with(profile, numbers);
    if (!machine || !fits_machine(model, *machine, after.training)) return false;
    constexpr double kSame = 0.001;
    const Seconds step = predict(model, *machine, after.training).step.seconds;
    return std::abs(step / after.report.step.seconds - 1) < kSame;
}

/// Steps before and after a change, as groups of rates move.
class GainBand {
  public:
    GainBand(const ModelSpec& model, const MachineSpec& machine, const NearbySettings& base,
             const Candidate& candidate, const NearbySettings& after)
        : machine_(machine),
          changed_(candidate.change(machine)),
          candidate_(candidate),
          base_(base),
          after_(after),
          base_plan_(plan_step(model, machine, base.training)),
          after_plan_(plan_step(model, changed_, after.training)) {}

    void set(Upgrade& upgrade) {
        const RateRanges& ranges = machine_.ranges;
        const RateRange kernels = kernels_range(base_plan_.program, machine_);
        if (candidate_.replaces_gpu) {
            // Two GPUs, whose rates are off independently.
            move_one(kernels, false);
            move_one(kernels_range(after_plan_.program, changed_), true);
        } else {
            move_both(kernels, {RateGroup::kernels});
        }
        move_both(ranges.optimizer, {RateGroup::optimizer});
        std::vector<RateGroup> with_memory = {RateGroup::host_memory};
        if (ranges.optimizer_by_memory) with_memory.push_back(RateGroup::optimizer);
        move_both(ranges.host_memory, with_memory);
        move_both(ranges.link, {RateGroup::link});
        move_both(ranges.host_work, {RateGroup::host_work});
        upgrade.gain_low = upgrade.gain - combined(less_);
        upgrade.gain_high = upgrade.gain + combined(more_);
    }

  private:
    Seconds before(const MachineSpec& machine) const {
        return simulate_step(base_plan_, machine, base_.training).step;
    }
    Seconds after(const MachineSpec& machine) const {
        return simulate_step(after_plan_, machine, after_.training).step;
    }

    void add(double gain_at_low, double gain_at_high) {
        const double nominal = base_.report.step.seconds / after_.report.step.seconds - 1;
        const auto [least, most] =
            std::minmax({gain_at_low - nominal, gain_at_high - nominal, 0.0});
        less_.push_back(least);
        more_.push_back(most);
    }

    void move_both(const RateRange& range, const std::vector<RateGroup>& groups) {
        const auto gain = [&](double factor) {
            MachineSpec machine = machine_;
            for (const RateGroup group : groups) scale_group(machine, group, factor);
            return before(machine) / after(candidate_.change(machine)) - 1;
        };
        add(gain(range.low), gain(range.high));
    }

    /// Kernels of the one before or of the one after only.
    void move_one(const RateRange& range, bool of_after) {
        const auto gain = [&](double factor) {
            MachineSpec machine = of_after ? changed_ : machine_;
            scale_group(machine, RateGroup::kernels, factor);
            return of_after ? base_.report.step.seconds / after(machine) - 1
                            : before(machine) / after_.report.step.seconds - 1;
        };
        add(gain(range.low), gain(range.high));
    }

    const MachineSpec machine_, changed_;
    const Candidate& candidate_;
    const NearbySettings &base_, &after_;
    const StepPlan base_plan_, after_plan_;
    std::vector<double> less_, more_;
};

void add_memory(const MachineSpec& machine, const MachineProfile& profile,
                std::vector<Candidate>& out, std::vector<std::string>& not_possible) {
    constexpr double kMoreGb = 16;
    const auto more = static_cast<Bytes>(kMoreGb * kGiga);
    const Numbers numbers = device_memory_numbers(machine, machine.gpu.memory_capacity + more);
    if (machine.unified_memory) {
        not_possible.emplace_back("link: host and device are one memory");
        const MachineSpec larger = with_host_memory(machine, machine.host.memory_capacity + more);
        if (const std::string words = impossible_memory(larger.host); !words.empty()) {
            not_possible.push_back("16 GB more memory: " + words);
            return;
        }
        out.push_back({"16 GB more memory",
                       [more](const MachineSpec& m) {
                           return with_host_memory(
                               with_device_memory(m, m.gpu.memory_capacity + more),
                               m.host.memory_capacity + more);
                       },
                       false, numbers});
        return;
    }
    out.push_back({"16 GB more device memory",
                   [more](const MachineSpec& m) {
                       return with_device_memory(m, m.gpu.memory_capacity + more);
                   },
                   false, numbers});
    out.push_back({"link twice as fast",
                   [](const MachineSpec& m) { return with_faster(m, part::link, 2); }, false,
                   link_numbers(profile, machine, 2)});
}

void add_gpu(const MachineSpec& machine, const MachineProfile& profile, const std::string& name,
             std::vector<Candidate>& out, std::vector<std::string>& not_possible) {
    const std::optional<MachineSpec> other =
        name.empty() ? next_gpu(machine, profile) : resolvable_machine(name);
    if (machine.unified_memory) {
        not_possible.emplace_back("another GPU: host and device are one memory");
    } else if (!other) {
        not_possible.emplace_back(name.empty()
                                      ? "another GPU: the library has none that comes next"
                                      : "another GPU: no step can be predicted for " + name);
    } else {
        out.push_back({"the GPU of " + other->id,
                       [other](const MachineSpec& m) { return with_gpu_of(m, *other); }, true});
    }
}

std::vector<Candidate> candidates(const MachineSpec& machine, const MachineProfile& profile,
                                  const std::string& gpu, std::vector<std::string>& not_possible) {
    std::vector<Candidate> out;
    add_memory(machine, profile, out, not_possible);
    constexpr double kMoreCores = 8;
    out.push_back({"8 more cores",
                   [](const MachineSpec& m) { return with_cores(m, m.host.cores + kMoreCores); },
                   false,
                   {number("host.cores", machine.host.cores + kMoreCores)}});
    out.push_back({"host memory 25% faster",
                   [](const MachineSpec& m) { return with_faster(m, part::host_memory, 1.25); }});
    add_gpu(machine, profile, gpu, out, not_possible);
    return out;
}

}  // namespace

Sensitivity sensitivity(const ModelSpec& model, const MachineProfile& profile,
                        const MachineSpec& machine, const TrainingSpec& training,
                        const std::string& gpu, const std::set<std::string>& fixed) {
    std::optional<NearbySettings> base = fastest_nearby(model, machine, training, fixed);
    if (!base)
        throw InputError(
            fmt::format("{} does not fit {} with these settings, so nothing can be gained; see "
                        "what fits with: sluice predict, or sluice fit",
                        model.name, machine.id));
    Sensitivity out;
    out.note = impossible_memory(machine.host);
    for (const Candidate& candidate : candidates(machine, profile, gpu, out.not_possible)) {
        const MachineSpec changed = candidate.change(machine);
        std::optional<NearbySettings> after = fastest_nearby(model, changed, training, fixed);
        if (!after) {
            out.not_possible.push_back(candidate.name + ": the step does not fit then");
            continue;
        }
        Upgrade upgrade;
        upgrade.name = candidate.name;
        if (same_step(model, profile, candidate.numbers, *after))
            for (const auto& [path, value] : candidate.numbers)
                upgrade.machine_settings.push_back({path, fmt::format("{}", value)});
        upgrade.gain = base->report.step.seconds / after->report.step.seconds - 1;
        GainBand(model, machine, *base, candidate, *after).set(upgrade);
        after->report.band = predict_band(after->report, changed);
        upgrade.settings = changed_settings(training, after->training);
        upgrade.successor = bottleneck_name(after->report.step.bottleneck());
        upgrade.report = std::move(after->report);
        out.upgrades.push_back(std::move(upgrade));
    }
    std::stable_sort(out.upgrades.begin(), out.upgrades.end(),
                     [](const Upgrade& a, const Upgrade& b) { return a.gain > b.gain; });
    base->report.band = predict_band(base->report, machine);
    out.base_settings = base->flags;
    out.base = std::move(base->report);
    return out;
}

}  // namespace sluice
