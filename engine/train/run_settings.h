// How is a model trained over many steps, which settings has each step, and may a run continue from
// a checkpoint with other settings?
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/batch_sampler.h"
#include "engine/optimizer/adamw.h"
#include "engine/optimizer/learning_rate.h"
#include "engine/train/expected_step.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// The reaction to a spike of loss or norm (spike_watch.h).
enum class OnSpike : std::uint8_t { go_on, skip, stop };
inline constexpr std::array<std::string_view, 3> kOnSpikeNames = {"go-on", "skip", "stop"};

/// Held-out data whose loss is found apart.
struct ValidationSet {
    std::string name;  ///< "" where there is one without a name
    std::vector<std::string> files;
    bool operator==(const ValidationSet&) const = default;
};
/// The sets of words as in: chats=a.bin b.bin code=c.bin; or files alone. Throws InputError.
std::vector<ValidationSet> validation_sets(const std::vector<std::string>& words);
/// The files of all sets.
std::vector<std::string> files_of(const std::vector<ValidationSet>& sets);

struct TrainSettings {
    // Where steps, rates and beta2 are not given: run_defaults.h.
    std::int64_t steps = 100;
    double learning_rate = 3e-4;  ///< its peak
    std::int64_t warmup_steps = 0;
    LearningRateKind schedule = LearningRateKind::cosine;
    double final_fraction = 0.1;  ///< share of the peak at the last step
    double decay_share = 0.1;     ///< share of the steps in which wsd falls
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1;
    double max_norm = 1;  ///< gradients are clipped to this norm
    OnSpike on_spike = OnSpike::go_on;
    double spike_deviations = 6;   ///< standard deviations above the mean from which on it is one
    std::uint64_t seed = 0;        ///< of initialisation, shuffling and stochastic rounding
    double init_deviation = 0.02;  ///< standard deviation of random weights
    /// Results of adapters are scaled by alpha / rank, or by its root; empty: by 2.
    std::optional<double> adapter_alpha;
    bool rank_stabilized = false;  ///< by the root (rsLoRA)
    /// Folder of peft's with the adapters to start from; `load` is then their base.
    std::optional<std::string> adapters;

    std::vector<std::string> data;          ///< shards, texts, folders
    std::vector<ValidationSet> validation;  ///< held-out data; may be empty
    std::int64_t validate_every = 100;      ///< steps between two validation losses
    bool validate_first = false;            ///< also before the first step
    bool evaluate_only = false;             ///< that, and no step
    /// The run ends after so many validation losses in a row that are no lower than one before.
    std::optional<std::int64_t> patience;
    std::string model;                ///< as --model names it
    std::string model_files;          ///< a folder or file whose tokenizer is kept
    std::optional<std::string> load;  ///< safetensors to start from
    bool random_weights = false;      ///< although `model` holds weights
    /// The tokens of the model, and perhaps of `load`, where --resize-vocabulary makes more.
    std::optional<std::int64_t> fewer_tokens;
    std::optional<std::string> out;  ///< folder of checkpoints
    bool discard = false;            ///< without `out`, loaded weights are not to be kept
    std::int64_t save_every = 0;     ///< steps between checkpoints; 0: only at the end
    int keep = 2;                    ///< newest checkpoints that stay
    /// Host memory for state that is to be written while it changes; 0: steps wait until a
    /// checkpoint is written; empty: what the plan leaves
    std::optional<Bytes> save_memory;
    std::optional<Seconds> grace;  ///< from a signal to the end of the machine
    bool save_best = false;        ///< keep the checkpoint with the lowest validation loss
    bool resume = false;           ///< continue from the newest checkpoint in `out`
    std::string recipe;            ///< all options, as each checkpoint keeps them
    std::optional<std::string> dump_batches;  ///< file that gets each step's inputs and targets
    std::optional<std::string> log;           ///< one JSON object per step
    std::optional<std::string> watch;         ///< folder of a page and of TensorBoard's files
    std::optional<ExpectedStep> expected;     ///< that a plan predicts

    std::string device = "auto";     ///< auto, cpu, cuda, cuda:1
    std::string precision = "auto";  ///< of activations: fp32 or bf16; auto: fp32 on the CPU
    std::optional<std::string> host_memory;  ///< host memory, if the system reports a wrong size
    int cpu_threads = 0;  ///< of libtorch's operators on the CPU; 0: half the cores
};

/// Precondition: the training has adapters.
double adapter_alpha(const TrainSettings& settings, const TrainingSpec& training);

/// The optimizer's settings in `step`, counted from 1; without gradient scales.
AdamWStep adamw_step(const TrainSettings& settings, std::int64_t step);

/// Fingerprints of the tokens that training reads, where their documents begin, and the held-out
/// data; "" where there is none.
struct DataFingerprints {
    std::string tokens, documents, validation = {};
};

/// The settings that a checkpoint keeps, as a JSON object.
std::string settings_record(const TrainingSpec& training, const TrainSettings& settings,
                            const BatchSampler& data, const DataFingerprints& fingerprints);
/// Whether two settings_record() held out the same data.
bool same_validation(const std::string& saved, const std::string& now);

/// Compares a checkpoint's settings with the current ones. Throws InputError if the position in the
/// data would have another meaning, that of `data`; returns one sentence on every other difference.
std::string changed_settings(const std::string& folder, const std::string& saved,
                             const std::string& now, const std::vector<std::string>& data);

}  // namespace sluice
