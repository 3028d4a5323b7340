// Where does a run continue, and when does it save?
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/memory/parameter_store.h"
#include "engine/train/output_lock.h"
#include "engine/train/run_settings.h"
#include "engine/train/training_checkpoint.h"

namespace sluice {

/// The file in a checkpoint with the options of its run.
inline constexpr const char* kRecipeFile = "recipe.toml";

/// The settings that a checkpoint was trained with, by field.
struct SavedPlan {
    std::string folder;
    std::map<std::string, std::string> training;
};

/// The checkpoints of one run in its --out, which no other run shares meanwhile.
class RunCheckpoints {
  public:
    /// Precondition: settings.out is given. Throws InputError if another run saves there, it cannot
    /// be written, or checkpoints are there without --resume.
    RunCheckpoints(const ModelSpec& model, const TrainSettings& settings);

    /// Throws InputError if the disk has too little room.
    void refuse_small_disk(const TrainingSpec& training) const;
    /// Measures how fast the disk takes a checkpoint, for save_time().
    void measure_disk(const TrainingSpec& training);
    /// The shortest time that a checkpoint took, or that the disk needs for one before the first;
    /// 0: not known. Precondition: none is being saved.
    Seconds save_time() const { return save_time_; }
    /// The plan of the newest checkpoint that names one.
    std::optional<SavedPlan> saved_plan() const;

    /// Fills the store from the newest checkpoint that is not damaged and says so; empty if there
    /// is none. `settings`: settings_record() of this run. Throws InputError if all are damaged, or
    /// the model, the state precision or the data are others.
    std::optional<TrainingState> load(ParameterStore& store, const std::string& settings);

    /// Whether the step is to be saved; `validation_loss` after it. Precondition: nothing is being
    /// saved if that is given.
    bool is_due(std::int64_t step, std::optional<double> validation_loss) const;
    /// Only the last checkpoint must be written: a full disk does not end the training, and the
    /// last one waits for room. Throws InputError for the last one. `read`: see save_checkpoint().
    void save(const ParameterStore& store, const TrainingState& state, bool last,
              const ReadState& read = {});
    /// From which checkpoint should a run continue that looks worse since a step, if it is known
    /// since when, and which are suspect? A clause.
    std::string advice_after_divergence(std::optional<std::int64_t> worse_since) const;

    std::optional<std::string> newest() const { return newest_checkpoint(*settings_.out); }

    /// In place of 10 s that a signal ends: whether the last checkpoint is tried again.
    void wait_for_room_by(std::function<bool()> wait) { wait_for_room_ = std::move(wait); }

  private:
    void judge_lost_records() const;
    void save_once(const ParameterStore& store, const TrainingState& state, const ReadState& read,
                   bool best);
    bool is_best(std::optional<double> validation_loss) const;
    /// Before a run with these settings goes on from `state`.
    void find_best(const TrainingState& state, const std::string& settings);

    const ModelSpec& model_;
    const TrainSettings& settings_;
    OutputLock lock_;
    std::function<bool()> wait_for_room_;
    ModelFiles beside_;
    Seconds save_time_ = 0;
    bool has_saved_ = false;
    std::optional<double> best_;  ///< lowest validation loss of a checkpoint, with --save-best
};

}  // namespace sluice
