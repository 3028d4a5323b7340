// How does a run survive its end? A checkpoint is a folder that transformers loads as a model, with
// the optimizer's state in further files.
//
//   out/step-00000030/config.json, model.safetensors (bf16: the upper planes) or shards with index
//                     optimizer/optimizer.safetensors or shards (lower planes, moments)
//                     training.json
//                     checksums.xxh3 (of all others; `xxhsum --check` reads it)
// A run that trains adapters writes adapter_config.json and adapter_model.safetensors, which peft
// loads, in place of config.json and model.safetensors.
//
//   out/latest        the name of the newest whole checkpoint
//   out/best          a link to the one with the lowest validation loss, with --save-best
//
// Parameters without the rest: weights_file.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/memory/parameter_store.h"
#include "engine/train/adapter_files.h"
#include "engine/train/ahead_rule.h"
#include "engine/train/divergence_watch.h"
#include "engine/train/early_stop.h"
#include "engine/train/model_files.h"
#include "engine/train/weights_file.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

std::string path_in(const std::string& folder, std::string_view name);
/// "step-00000030".
std::string checkpoint_name(std::int64_t step);

/// Creates `out` if it is missing, removes unfinished checkpoints of killed runs (no other files),
/// and renames a checkpoint back that they were replacing. Throws InputError if it cannot be
/// created or renamed.
void prepare_output_folder(const std::string& out);

/// Throws InputError if the disk of `out` has less than `needed` bytes free; `what` begins the
/// sentence.
void refuse_full_disk(const std::string& out, const std::string& what, std::int64_t needed);

/// Throws InputError if the disk has no room for the checkpoints that a run will hold at once: one
/// that it writes, the `keep` before it and none that are there already. Never less than one.
/// `saves`: checkpoints that the run will write.
void refuse_small_disk(const std::string& out, std::int64_t checkpoint_bytes, std::int64_t saves,
                       int keep);

/// A folder that is written as out/<name>.partial and removed unless commit() renames it.
class PartialFolder {
  public:
    /// Throws InputError if it cannot be created or exists already.
    PartialFolder(const std::string& out, const std::string& name);
    ~PartialFolder();
    PartialFolder(const PartialFolder&) = delete;
    PartialFolder& operator=(const PartialFolder&) = delete;

    const std::string& path() const { return path_; }
    /// Gives the folder its final name, also on the disk, and replaces a folder of that name.
    /// Precondition: its files and itself are on the disk. Throws InputError.
    void commit();

  private:
    std::string out_, name_, path_;
};

/// Throws InputError.
void point_latest_at(const std::string& out, const std::string& name);

/// Links `best` to a checkpoint, from then on exempt from remove_older_checkpoints(). Throws
/// InputError.
void point_best_at(const std::string& out, const std::string& name);
/// Removes that link if it names a checkpoint after `step`.
void forget_best_after(const std::string& out, std::int64_t step);
/// Throws InputError if something else has the name of that link, or no link can be made there.
void refuse_other_best(const std::string& out);

/// Throws InputError if something else has the name of the file `latest`.
void refuse_other_latest(const std::string& out);

/// Folders of checkpoints that have lost their training.json, as no kill leaves one: the newest
/// first. Throws InputError if `out` cannot be read.
std::vector<std::string> checkpoints_without_record(const std::string& out);

/// Steps of the whole checkpoints, highest first. Throws InputError if `out` cannot be read.
std::vector<std::int64_t> checkpoint_steps(const std::string& out);

/// Removes the whole checkpoints below `step`, except the newest `keep` of them, the newest below
/// `in_doubt`, and the best. A folder that cannot be removed stays; it does no harm, and the next
/// save tries again.
void remove_older_checkpoints(const std::string& out, std::int64_t step, int keep,
                              std::int64_t in_doubt);

/// Everything except parameters and optimizer state that a run needs to continue exactly.
struct TrainingState {
    std::int64_t step = 0;  ///< steps done
    std::int64_t data_position =
        0;  ///< BatchSampler::position() of the first batch not yet trained on
    std::uint64_t seed = 0;
    /// The settings that must not change when a run continues: a JSON object, as written by
    /// nlohmann::ordered_json::dump().
    std::string settings;
    double clip_factor = 1;  ///< of the last step: speculative clipping's guess for the next
    int state_bytes = 0;     ///< of the file that it was loaded from
    std::optional<double> validation_loss = {};    ///< after the step, if it was asked for
    std::map<std::string, std::string> plan = {};  ///< training options as text, by field
    std::vector<RecentStep> recent = {};           ///< those that spikes are compared with
    DivergenceMemory divergence = {};
    EarlyStopState early_stop = {};
    std::optional<AheadState> ahead = {};  ///< with --clipping auto
    std::optional<AdapterRecord> adapters = {};
};

/// The first step whose checkpoint is not known to be good: a later step has to show it.
std::int64_t first_in_doubt(const TrainingState& state);

/// Writes out/step-N, with the files that stand beside the weights, in a temporary folder, syncs
/// it, renames it, syncs again, sets `latest` to it, and only then removes earlier checkpoints so
/// that `keep` are left, at least 1; before, if the disk has too little room, so that the newest is
/// left. The newest before first_in_doubt() is left, too. A kill at any moment leaves the old one
/// or the new one whole; the next save first removes unfinished files. Throws InputError if the
/// disk is full or not writable; the newest checkpoint is not lost then. `read` gives the tensors;
/// without it the store does. With `best`, it is the best from then on. Precondition: no other run
/// saves into `out`, and without `read` no step is at work.
void save_checkpoint(const std::string& out, const ModelSpec& model, const ParameterStore& store,
                     const TrainingState& state, int keep, const ModelFiles& beside = {},
                     const ReadState& read = {}, bool best = false);

/// Path of the checkpoint folder that `latest` names, else of the whole checkpoint with the highest
/// step; empty if there is none. A whole checkpoint has a training.json, which is written last.
/// First renames a checkpoint back that a killed save was replacing. Throws InputError if `out`
/// cannot be read or that renaming fails.
std::optional<std::string> newest_checkpoint(const std::string& out);

/// Throws InputError, which names the checkpoint, where `path` is a run's file `latest`.
void refuse_latest(const std::string& flag, const std::string& path);

/// The record of a step's checkpoint; empty if there is none, or it cannot be read.
std::optional<TrainingState> checkpoint_state(const std::string& out, std::int64_t step,
                                              const ModelSpec& model);

/// TrainingState::plan of a checkpoint; empty if its record has none, as those of older versions,
/// or cannot be read.
std::map<std::string, std::string> checkpoint_plan(const std::string& folder);

/// Folders of the whole checkpoints: the one that `latest` names, then by step, highest first.
/// Otherwise as newest_checkpoint().
std::vector<std::string> checkpoints_by_age(const std::string& out);

/// Files that are missing or hold other bytes than were saved.
class DamagedCheckpoint : public InputError {
  public:
    using InputError::InputError;
};

/// Fills parameters, moments and state from a checkpoint folder. Throws, before anything is
/// written, DamagedCheckpoint, or InputError if it does not match the model. Moments of another
/// precision are rounded to the store's.
TrainingState load_checkpoint(const std::string& folder, const ModelSpec& model,
                              ParameterStore& store);

/// Throws DamagedCheckpoint if a file is missing or holds other bytes than were saved.
void verify_checkpoint(const std::string& folder);
/// The lower planes and moments of a checkpoint, optimizer_tensors(). Throws InputError.
Checkpoint open_optimizer(const std::string& folder);

/// The file that is written last: a folder with it is a whole checkpoint.
inline constexpr const char* kTrainingRecordFile = "training.json";
/// The link to the best checkpoint.
inline constexpr const char* kBest = "best";

}  // namespace sluice
