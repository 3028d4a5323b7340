#include "sim/answers/search/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/answers/predict/predict.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/specs/machine/scaled_machine.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

// The scenario in which a value is searched.
constexpr double kMostBatch = 1 << 20, kMostSequence = 1 << 26, kMostLayers = 1 << 13;
constexpr double kLeastMemoryGb = 1, kMostMemoryGb = 1 << 15;
constexpr double kMostLinkFactor = 256;
constexpr double kMostCores = 1024;

/// A model, machine and settings with one value of the unknown.
struct Trial {
    ModelSpec model;
    MachineSpec machine;
    TrainingSpec training;
    double value = 0;
    std::string subject;
};

class LimitSearch {
  public:
    LimitSearch(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                const FindQuery& query)
        : model_(model), machine_(machine), training_(training), query_(query) {
        answer_.query = query;
        answer_.asked = sought_question(query.sought);
        if (query.sought != Sought::host_memory) answer_.note = impossible_memory(machine.host);
    }

    FindAnswer run() {
        FindAnswer out = search();
        const std::string with = settings_that_fit(out);
        if (!with.empty()) out.note += (out.note.empty() ? "" : "; ") + with;
        return out;
    }

  private:
    FindAnswer search() {
        switch (query_.sought) {
            case Sought::batch:
                return most(batch_unit(), kMostBatch);
            case Sought::sequence:
                return longest_sequence();
            case Sought::layers:
                return most(1, kMostLayers);
            case Sought::model:
                return largest_model();
            case Sought::host_memory:
                return least_host_memory();
            case Sought::device_memory:
                return least(kLeastMemoryGb, kMostMemoryGb);
            case Sought::link:
                return least(1 / kMostLinkFactor, kMostLinkFactor);
            case Sought::cores:
                return fewest_cores();
        }
        throw InternalError("fit: unknown question");
    }

    /// "with --checkpoints host it fits" where no value is enough for the given settings; else "".
    std::string settings_that_fit(const FindAnswer& answer) const {
        if (answer.best || !answer.other || answer.other->fits() || query_.adjust ||
            query_.sought == Sought::model)
            return "";
        const Trial t = trial(answer.other->value);
        const auto fitting = fitting_training(t.model, t.machine, t.training, true);
        if (!fitting) return "";
        const std::string out =
            fmt::format("with {} it fits", setting_flags(changed_settings(t.training, *fitting)));
        return query_.sought == Sought::batch ? out : out + "; --adjust tries such settings";
    }

    double batch_unit() const {
        return static_cast<double>(std::max<std::int64_t>(1, training_.micro_batch) *
                                   training_.gpus);
    }

    /// The scenario with that value of the unknown.
    Trial trial(double value) const {
        Trial t{model_, machine_, training_, value, ""};
        const auto whole = static_cast<std::int64_t>(value);
        const auto bytes = static_cast<Bytes>(value * kGiga);
        switch (query_.sought) {
            case Sought::batch:
                t.training.batch = whole;
                t.subject = format_number_of(whole, "sequence");
                break;
            case Sought::sequence:
                t.training.sequence = whole;
                t.subject = format_number_of(whole, "token");
                break;
            case Sought::layers:
                set_layers(t.model, whole);
                t.subject =
                    fmt::format("{}, {} parameters", format_number_of(whole, "layer"),
                                format_count(static_cast<double>(total_parameters(t.model))));
                break;
            case Sought::host_memory:
                t.machine = with_host_memory(machine_, bytes);
                t.subject = memory_subject(value);
                break;
            case Sought::device_memory:
                t.machine = with_device_memory(machine_, bytes);
                t.subject = memory_subject(value);
                break;
            case Sought::link:
                t.machine = with_faster(machine_, part::link, value);
                t.subject = fmt::format("{:.3g} GB/s in, {:.3g} GB/s out, {:.3g} GB/s both ways",
                                        t.machine.link.host_to_device / kGiga,
                                        t.machine.link.device_to_host / kGiga,
                                        t.machine.link.both_ways_total / kGiga);
                break;
            case Sought::cores:
                t.machine = with_cores(machine_, value);
                t.subject = format_thousands(value) + " cores";
                break;
            case Sought::model:
                break;
        }
        return t;
    }

    /// Values that differ by kFindTolerance have different words.
    static std::string memory_subject(double gb) {
        return gb < 100 ? fmt::format("{:.2f} GB", gb) : format_bytes(gb * kGiga);
    }

    /// The first layers, or the model's layers repeated.
    static void set_layers(ModelSpec& model, std::int64_t count) {
        const std::vector<int> layers = model.layers;
        model.layers.resize(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < model.layers.size(); ++i)
            model.layers[i] = layers[i % layers.size()];
    }

    /// Why the settings are no valid ones with that value; empty: they are.
    static std::optional<Refusal> refused(const Trial& t) {
        return refusal_of(t.model, t.machine, t.training);
    }

    bool does_it(const Trial& t) {
        ++answer_.plans;
        if (refused(t)) return false;
        const auto adjusted = fitting_training(t.model, t.machine, t.training, query_.adjust);
        if (!adjusted) return false;
        return query_.tokens_per_s <= 0 ||
               predict(t.model, t.machine, *adjusted).tokens_per_s() >= query_.tokens_per_s;
    }
    bool does_it(double value) { return does_it(trial(value)); }

    FindSide side(const Trial& t) const {
        const TrainingSpec training =
            fitting_training(t.model, t.machine, t.training, query_.adjust).value_or(t.training);
        return {t.value, t.subject,
                predict(t.model, t.machine, training, {.band = Wanted::Band::always}),
                changed_settings(t.training, training)};
    }

    /// The least multiple of `unit` with which the settings are valid. Throws InputError if none
    /// is.
    double least_valid(double unit, double limit) const {
        constexpr double kMost = 1 << 15;
        for (double count = 1; count <= kMost && count * unit <= limit; ++count)
            if (!refused(trial(count * unit))) return count * unit;
        throw InputError(*refused(trial(unit)));
    }

    /// Searches multiples of `unit`, or of the least valid one where others are refused. Speed is
    /// not monotone in them (short sequences are slow, and so are long ones). So every doubling is
    /// tried, and the range between the last that works and the next is bisected.
    FindAnswer most(double unit, double limit) {
        const double least = least_valid(unit, limit);
        if (refused(trial(least + unit))) unit = least;
        double low = 0, high = 0;
        for (double count = std::round(least / unit); count * unit <= limit; count *= 2) {
            if (does_it(count * unit)) {
                low = count;
                high = 0;
            } else if (high == 0) {
                high = count;
            }
            // Memory is monotone: if nothing fits, nothing larger fits.
            if (high > 0 && !fits(count * unit)) break;
        }
        const double last = std::floor(limit / unit);
        if (high == 0 && low < last) (does_it(last * unit) ? low : high) = last;
        while (low > 0 && high - low > 1) {
            const double middle = std::floor((low + high) / 2);
            (does_it(middle * unit) ? low : high) = middle;
        }
        return sides(low * unit, high * unit);
    }

    /// The longest sequence; at most the positions that a model has learned.
    FindAnswer longest_sequence() {
        const auto positions = static_cast<double>(model_.learned_positions);
        if (positions == 0) return most(1, kMostSequence);
        FindAnswer answer = most(1, positions);
        if (answer.best && answer.best->value == positions)
            answer.note = fmt::format("{} has learned {} positions: no sequence can be longer",
                                      model_.name, format_thousands(positions));
        return answer;
    }

    bool fits(double value) {
        const Trial t = trial(value);
        return !refused(t) &&
               fitting_training(t.model, t.machine, t.training, query_.adjust).has_value();
    }

    /// Bisects the ratio, down to kFindTolerance.
    FindAnswer least(double low, double high) {
        if (!does_it(high)) return sides(0, high);
        if (does_it(low)) return sides(low, 0);
        while (high / low > 1 + kFindTolerance) {
            const double middle = std::sqrt(low * high);
            (does_it(middle) ? high : low) = middle;
        }
        return sides(high, low);
    }

    /// At most the memory that such a machine can have, if that is known.
    FindAnswer least_host_memory() {
        const auto most = static_cast<double>(machine_.host.memory_capacity_most) / kGiga;
        if (most == 0) return least(kLeastMemoryGb, kMostMemoryGb);
        FindAnswer answer = least(std::min(kLeastMemoryGb, most), most);
        if (!answer.best)
            answer.note = fmt::format("{} is the most that such a machine can have",
                                      format_bytes(most * kGiga));
        return answer;
    }

    FindAnswer fewest_cores() {
        double low = 0, high = kMostCores;
        if (!does_it(high)) return sides(0, high);
        while (high - low > 1) {
            const double middle = std::floor((low + high) / 2);
            (does_it(middle) ? high : low) = middle;
        }
        return sides(high, low);
    }

    /// The largest model of the library and the what-if sizes, by parameters.
    FindAnswer largest_model() {
        std::vector<ModelSpec> models;
        for (const std::string& name : library_models()) models.push_back(read_model(name));
        for (const ScaledTarget& target : scaled_targets())
            models.push_back(read_model(target.name));
        std::stable_sort(models.begin(), models.end(), [](const auto& a, const auto& b) {
            return total_parameters(a) > total_parameters(b);
        });
        std::optional<Trial> before;
        std::vector<std::string> not_counted;
        std::optional<Refusal> why;
        for (const ModelSpec& model : models) {
            if (!query_.planned_too && !runs_today(training_, model, machine_).runs()) {
                not_counted.push_back(model.name);
                continue;
            }
            Trial t{model, machine_, training_, static_cast<double>(total_parameters(model)), ""};
            t.subject = fmt::format("{} ({} parameters)", model.name, format_count(t.value));
            if (const auto no = refused(t)) {
                why = no;
                continue;
            }
            if (does_it(t)) {
                answer_.best = side(t);
                break;
            }
            before = std::move(t);
        }
        if (not_counted.size() == models.size())
            throw InputError(fmt::format(
                "--find model: no program trains with {} on {} today; give another --schedule, or "
                "--planned-too",
                training_.schedule->name, machine_.id));
        if (before) answer_.other = side(*before);
        if (!answer_.best && !before) throw InputError(*why);
        if (!not_counted.empty())
            answer_.note =
                fmt::format("not counted, since no program trains them this way here today: {}",
                            fmt::join(not_counted, ", "));
        return std::move(answer_);
    }

    FindAnswer sides(double best, double other) {
        if (best > 0) answer_.best = side(trial(best));
        const auto why = other > 0 ? refused(trial(other)) : std::nullopt;
        if (why && best == 0) throw InputError(*why);
        if (why)
            answer_.note =
                fmt::format("{} is refused: {}", trial(other).subject, InputError(*why).what());
        else if (other > 0)
            answer_.other = side(trial(other));
        return std::move(answer_);
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const FindQuery& query_;
    FindAnswer answer_;
};

void check_query(const MachineSpec& machine, const FindQuery& query) {
    if (machine.unified_memory && query.sought == Sought::device_memory)
        throw InputError(fmt::format(
            "--find is hbm, but host and device of {} are one memory; ask for host-memory",
            machine.id));
    if (machine.unified_memory && query.sought == Sought::link)
        throw InputError(fmt::format(
            "--find is link, but {} has no link: host and device are one memory", machine.id));
    if (query.adjust && query.sought == Sought::batch)
        throw InputError(
            "--adjust does not go with --find batch, since a batch in micro-batches has no largest "
            "size; give --micro-batch or --checkpoints host instead");
    const bool speed_only = query.sought == Sought::link || query.sought == Sought::cores;
    if (speed_only && query.tokens_per_s <= 0)
        throw InputError(
            fmt::format("--find {} needs a speed: give --tokens-per-s", sought_name(query.sought)));
}

}  // namespace

FindAnswer find_limit(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training, const FindQuery& query) {
    check_query(machine, query);
    return LimitSearch(model, machine, training, query).run();
}

}  // namespace sluice
