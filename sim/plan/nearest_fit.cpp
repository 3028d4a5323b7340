#include "sim/plan/nearest_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// One setting moved to another value.
struct FitChange {
    std::string field;
    std::string value;
};

const Option& find_option(const std::string& field) {
    for (const Option& option : training_options()) {
        if (field == option.field) return option;
    }
    throw InternalError("nearest_fit: unknown option " + field);
}

/// Values of `field` from `from` halved down to 1 that divide `whole`.
void append_halvings(std::vector<FitChange>& out, const char* field, std::int64_t from,
                     std::int64_t whole) {
    for (std::int64_t value = from / 2; value >= 1; value /= 2) {
        if (whole % value == 0) out.push_back({field, std::to_string(value)});
    }
}

/// More states on the host where the device is short, fewer where the host is; the nearest first.
void append_offload_percents(std::vector<FitChange>& out, std::int64_t from) {
    for (std::int64_t step = 10; step < 100 + 10; step += 10) {
        for (const std::int64_t value :
             {std::min<std::int64_t>(from + step, 100), std::max<std::int64_t>(from - step, 0)})
            if (value != from) out.push_back({"offload_percent", std::to_string(value)});
    }
}

/// Changes that keep the training the same but for speed.
std::vector<FitChange> harmless_changes(const TrainingSpec& t) {
    std::vector<FitChange> out;
    if (t.schedule->keeps_inputs_alone) {
        if (t.recompute != Recompute::full) out.push_back({"recompute", "full"});
    }
    if (!t.schedule->ours)
        append_halvings(out, "micro_batch", t.micro_batch_sequences(), t.batch_of_a_gpu());
    if (t.schedule->several_gpus) {
        if (t.sharding != Sharding::full) out.push_back({"sharding", "full"});
    }
    if (!t.schedule->ours) return out;
    if (t.keep_last_layers > 0) out.push_back({"keep_last_layers", "0"});
    if (t.recompute != Recompute::full) out.push_back({"recompute", "full"});
    if (t.clipping == Clipping::exact) out.push_back({"clipping", "speculative"});
    constexpr std::int64_t kChunk = 16384;
    if (t.feed_forward_chunk_tokens == 0 && t.micro_batch_block().tokens() > kChunk)
        out.push_back({"feed_forward_chunk_tokens", std::to_string(kChunk)});
    append_halvings(out, "micro_batch", t.micro_batch_sequences(), t.batch);
    out.push_back(t.checkpoints == CheckpointPlacement::device
                      ? FitChange{"checkpoints", "host"}
                      : FitChange{"checkpoints", "device"});
    if (t.loss_chunk_tokens > 1024) out.push_back({"loss_chunk_tokens", "1024"});
    if (t.buffer_depth > 1) out.push_back({"buffer_depth", "1"});
    return out;
}

/// Changes that a user should decide on: other states or places for them, another batch.
std::vector<FitChange> other_changes(const TrainingSpec& t) {
    std::vector<FitChange> out;
    if (t.schedule->ours) {
        if (t.state_bytes > 8) out.push_back({"state_bytes", "8"});
        if (t.state_bytes > 6) out.push_back({"state_bytes", "6"});
    }
    if (has_option(t.schedule, "offload_percent")) append_offload_percents(out, t.offload_percent);
    constexpr std::int64_t kMostGpus = 1024;
    for (std::int64_t gpus = 2 * t.gpus; t.schedule->several_gpus && gpus <= kMostGpus; gpus *= 2)
        out.push_back({"gpus", std::to_string(gpus)});
    append_halvings(out, "batch", t.batch, t.batch);
    for (std::int64_t sequence = t.sequence / 2; sequence >= 1024; sequence /= 2)
        out.push_back({"seq", std::to_string(sequence)});
    return out;
}

/// Nothing where the candidate breaks a rule: then it is no advice.
std::optional<Fit> fit_of(const ModelSpec& model, const MachineSpec& machine,
                          const TrainingSpec& candidate) {
    try {
        check_training_spec(candidate);
        return check_fit(plan_step(model, machine, candidate), machine, candidate);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

class Search {
  public:
    Search(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
           std::size_t most, const std::function<void()>& before_each)
        : model_(model),
          machine_(machine),
          training_(training),
          most_(most),
          before_each_(before_each) {}

    std::vector<FittingChange> run() {
        const std::vector<FitChange> harmless = harmless_changes(training_);
        const std::vector<FitChange> other = other_changes(training_);
        for (const FitChange& change : harmless) try_changes({change});
        if (found_.empty()) try_pairs(harmless, harmless);
        if (found_.empty()) try_triples(harmless);
        for (const FitChange& change : other) try_changes({change});
        if (found_.empty()) try_pairs(other, harmless);
        return std::move(found_);
    }

  private:
    void try_pairs(const std::vector<FitChange>& first, const std::vector<FitChange>& second) {
        for (const FitChange& a : first) {
            for (const FitChange& b : second) {
                if (a.field < b.field || &first != &second) try_changes({a, b});
            }
        }
    }

    void try_triples(const std::vector<FitChange>& changes) {
        for (const FitChange& a : changes) {
            for (const FitChange& b : changes) {
                for (const FitChange& c : changes) {
                    if (a.field < b.field && b.field < c.field) try_changes({a, b, c});
                }
            }
        }
    }

    /// Keeps the first value that fits of each combination of settings: the nearest.
    void try_changes(const std::vector<FitChange>& changes) {
        std::string fields, flags;
        TrainingSpec candidate = training_;
        for (const FitChange& change : changes) {
            const Option& option = find_option(change.field);
            fields += change.field + " ";
            flags +=
                fmt::format("{}{} {}", flags.empty() ? "" : " ", option_flag(option), change.value);
            set_option(candidate, option, change.value, option_flag(option));
        }
        if (found_.size() >= most_ || fields == last_fields_) return;
        if (candidate.micro_batch > candidate.batch_of_a_gpu()) {
            candidate.micro_batch = candidate.batch_of_a_gpu();
            flags += fmt::format(" --micro-batch {}", candidate.micro_batch);
        }
        if (before_each_) before_each_();
        const std::optional<Fit> fit = fit_of(model_, machine_, candidate);
        if (!fit || !fit->fits()) return;
        last_fields_ = fields;
        found_.push_back({flags, candidate, *fit});
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const std::size_t most_;
    const std::function<void()>& before_each_;
    std::vector<FittingChange> found_;
    std::string last_fields_;
};

/// The largest micro-batch of a batch that does not fit at once; nothing if none fits.
std::optional<TrainingSpec> largest_micro_batch(const ModelSpec& model, const MachineSpec& machine,
                                                const TrainingSpec& training) {
    const std::int64_t batch = training.batch_of_a_gpu();
    for (std::int64_t micro_batch = batch / 2; micro_batch >= 1; --micro_batch) {
        if (batch % micro_batch != 0) continue;
        TrainingSpec candidate = training;
        candidate.micro_batch = micro_batch;
        const std::optional<Fit> fit = fit_of(model, machine, candidate);
        if (!fit) return std::nullopt;
        if (fit->fits()) return candidate;
        if (fit->device.shortfall() == 0 && !machine.unified_memory) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::vector<FittingChange> nearest_fits(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, std::size_t most,
                                        const std::function<void()>& before_each) {
    return Search(model, machine, training, most, before_each).run();
}

bool fits_by_token(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    TrainingSpec least = training;
    least.batch = least.gpus;
    least.micro_batch = 0;
    least.sequence = 1;
    const std::optional<Fit> fit = fit_of(model, machine, least);
    return fit && fit->fits();
}

std::optional<TrainingSpec> whole_batch_that_fits(const ModelSpec& model,
                                                  const MachineSpec& machine,
                                                  const TrainingSpec& training) {
    if (training.micro_batch != 0) return std::nullopt;
    const std::optional<Fit> at_once = fit_of(model, machine, training);
    const bool device_is_short = at_once && (at_once->device.shortfall() > 0 ||
                                             (machine.unified_memory && !at_once->fits()));
    if (!device_is_short) return std::nullopt;
    if (const auto cut = largest_micro_batch(model, machine, training)) return cut;
    if (!training.schedule->ours || training.checkpoints == CheckpointPlacement::host)
        return std::nullopt;
    TrainingSpec on_host = training;
    on_host.checkpoints = CheckpointPlacement::host;
    const std::optional<Fit> fit = fit_of(model, machine, on_host);
    if (fit && fit->fits()) return on_host;
    return largest_micro_batch(model, machine, on_host);
}

}  // namespace sluice
