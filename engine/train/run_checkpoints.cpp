#include "engine/train/run_checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "engine/data/files.h"
#include "engine/machine/stop_signals.h"
#include "engine/train/progress.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/plan/sizes.h"

namespace sluice {

namespace {

/// For 10 s. False after a signal; one that follows another ends the program.
bool wait_for_room() {
    constexpr int kTries = 100;
    constexpr std::chrono::milliseconds kBetween(100);
    const Seconds before = since_stop_signal();
    for (int i = 0; i < kTries; ++i) {
        std::this_thread::sleep_for(kBetween);
        if (before == 0 && stop_requested()) return false;
    }
    return true;
}

}  // namespace

RunCheckpoints::RunCheckpoints(const ModelSpec& model, const TrainSettings& settings)
    : model_(model),
      settings_(settings),
      lock_(*settings.out),
      wait_for_room_(wait_for_room),
      beside_(read_model_files(settings.model_files)) {
    const std::string& out = *settings.out;
    prepare_output_folder(out);
    if (!settings.recipe.empty()) beside_.others.emplace_back(kRecipeFile, settings.recipe);
    if (const auto there = newest(); there && !settings.resume)
        throw InputError(fmt::format(
            "--out {}: holds {} already; give --resume to continue from it, or another folder", out,
            *there));
    if (settings.save_best) refuse_other_best(out);
    refuse_other_latest(out);
    judge_lost_records();
}

/// Without one a checkpoint is none, and the run would go on from an older one, or write over it.
void RunCheckpoints::judge_lost_records() const {
    const std::vector<std::string> lost = checkpoints_without_record(*settings_.out);
    if (lost.empty()) return;
    const std::string found = fmt::format("{} holds no {}", lost.front(), kTrainingRecordFile);
    if (const auto there = newest())
        say_on_stderr(fmt::format("warning: {}, so that nothing continues from it\n", found));
    else
        throw InputError(fmt::format(
            "--out {}: {}, so no run can continue from it; restore that file, or start from its "
            "weights with --load {} and another --out",
            *settings_.out, found, lost.front()));
}

namespace {

Bytes checkpoint_bytes(const ModelSpec& model, const TrainingSpec& training) {
    const AdapterShape adapters = training.adapters();
    const double trained =
        adapters.present() ? all_adapter_parameters(model, adapters) : all_parameters(model);
    return static_cast<Bytes>(trained) * training.state_bytes;
}

}  // namespace

void RunCheckpoints::refuse_small_disk(const TrainingSpec& training) const {
    const TrainSettings& s = settings_;
    std::int64_t saves = s.save_every == 0 ? 1 : (s.steps - 1) / s.save_every + 1;
    if (s.save_best) saves += s.steps / s.validate_every;
    sluice::refuse_small_disk(*s.out, checkpoint_bytes(model_, training), saves,
                              s.keep + (s.save_best ? 1 : 0));
}

void RunCheckpoints::measure_disk(const TrainingSpec& training) {
    constexpr Bytes kMostOnTrial = Bytes{256} << 20;
    const Bytes all = checkpoint_bytes(model_, training), trial = std::min(all, kMostOnTrial);
    const PartialFolder folder(*settings_.out, checkpoint_name(0));  // one that a kill may leave
    const std::string bytes(static_cast<std::size_t>(trial), 'x');
    const Seconds start = host_seconds();
    write_output_file((std::filesystem::path(folder.path()) / "trial").string(), bytes);
    save_time_ = (host_seconds() - start) * static_cast<double>(all) / static_cast<double>(trial);
}

std::optional<SavedPlan> RunCheckpoints::saved_plan() const {
    for (const std::string& folder : checkpoints_by_age(*settings_.out))
        if (auto training = checkpoint_plan(folder); !training.empty())
            return SavedPlan{folder, std::move(training)};
    return std::nullopt;
}

std::optional<TrainingState> RunCheckpoints::load(ParameterStore& store,
                                                  const std::string& settings) {
    const std::vector<std::string> folders = checkpoints_by_age(*settings_.out);
    for (const std::string& folder : folders) {
        try {
            TrainingState state = load_checkpoint(folder, model_, store);
            const std::string changes =
                changed_settings(folder, state.settings, settings, settings_.data);
            say(fmt::format("continuing from {}\n", folder));
            if (state.state_bytes != store.state_bytes())
                say(fmt::format("note: --state-bytes was {} and is {}: the state is rounded\n",
                                state.state_bytes, store.state_bytes()));
            if (!changes.empty()) say(fmt::format("note: {}\n", changes));
            find_best(state, settings);
            return state;
        } catch (const DamagedCheckpoint& damage) {
            say_on_stderr(fmt::format("warning: {}\n", damage.what()));
        }
    }
    if (!folders.empty())
        throw InputError(
            fmt::format("--out {}: holds no checkpoint without damage; choose another --out to "
                        "start from step 1",
                        *settings_.out));
    return std::nullopt;
}

/// The link may be missing after a kill, or name a later checkpoint, which was damaged or which the
/// run will replace.
void RunCheckpoints::find_best(const TrainingState& state, const std::string& settings) {
    if (!settings_.save_best) return;
    std::optional<std::int64_t> found;
    for (const std::int64_t step : checkpoint_steps(*settings_.out)) {
        if (step > state.step) continue;
        const auto one = checkpoint_state(*settings_.out, step, model_);
        if (!one || !same_validation(one->settings, settings) || !is_best(one->validation_loss))
            continue;
        best_ = one->validation_loss;
        found = step;
    }
    if (found)
        point_best_at(*settings_.out, checkpoint_name(*found));
    else
        forget_best_after(*settings_.out, state.step);
}

bool RunCheckpoints::is_best(std::optional<double> validation_loss) const {
    return settings_.save_best && validation_loss && std::isfinite(*validation_loss) &&
           (!best_ || *validation_loss < *best_);
}

bool RunCheckpoints::is_due(std::int64_t step, std::optional<double> validation_loss) const {
    return (settings_.save_every > 0 && step % settings_.save_every == 0) ||
           is_best(validation_loss);
}

void RunCheckpoints::save_once(const ParameterStore& store, const TrainingState& state,
                               const ReadState& read, bool best) {
    const Seconds start = host_seconds();
    save_checkpoint(*settings_.out, model_, store, state, settings_.keep, beside_, read, best);
    if (best) best_ = state.validation_loss;
    const Seconds took = host_seconds() - start;
    save_time_ = has_saved_ ? std::min(save_time_, took) : took;
    has_saved_ = true;
}

void RunCheckpoints::save(const ParameterStore& store, const TrainingState& state, bool last,
                          const ReadState& read) {
    const bool best = is_best(state.validation_loss);
    for (bool is_told = false;; is_told = true) {
        const Seconds start = host_seconds();
        try {
            save_once(store, state, read, best);
            if (!last)
                say(fmt::format(
                    "saved {}{}, in {}\n", path_in(*settings_.out, checkpoint_name(state.step)),
                    best ? ", the best so far" : "", format_seconds(host_seconds() - start)));
            return;
        } catch (const DiskFull& full) {
            if (last && !is_told)
                say_on_stderr(fmt::format(
                    "sluice-train: {}; the run waits for room and tries again every 10 s, until a "
                    "signal ends it\n",
                    full.what()));
            if (last && wait_for_room_()) continue;
            if (last) throw;
            say_on_stderr(fmt::format("sluice-train: no checkpoint of step {}: {}\n", state.step,
                                      full.what()));
            return;
        } catch (const InputError& error) {
            if (last) throw;
            say_on_stderr(fmt::format("sluice-train: no checkpoint of step {}: {}\n", state.step,
                                      error.what()));
            return;
        }
    }
}

std::string RunCheckpoints::advice_after_divergence(std::optional<std::int64_t> worse_since) const {
    const auto folder = [this](std::int64_t step) {
        return (std::filesystem::path(*settings_.out) / checkpoint_name(step)).string();
    };
    std::vector<std::string> suspects;
    std::optional<std::int64_t> good;
    for (const std::int64_t step : checkpoint_steps(*settings_.out)) {
        if (worse_since && step >= *worse_since - 1)
            suspects.push_back(folder(step));
        else if (!good)
            good = step;
    }
    const std::string onward = good ? fmt::format("--resume continues from {}", folder(*good))
                                    : "no older checkpoint is left";
    if (suspects.empty()) return good ? onward : "no checkpoint was saved";
    return fmt::format(
        "loss or gradients are worse from step {} on than before, so do not trust {}; without {}, "
        "{}",
        *worse_since, fmt::join(suspects, ", "), suspects.size() == 1 ? "it" : "them", onward);
}

}  // namespace sluice
