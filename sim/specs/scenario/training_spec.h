// How is the model trained: batch, buffers, recomputation, precisions?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/input_error.h"
#include "sim/base/units.h"
#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/model/weight_form.h"
#include "sim/specs/scenario/own_options.h"
#include "sim/specs/scenario/schedule.h"

namespace sluice {

class JsonObject;

/// How PyTorch's Adam runs: as one kernel, or by default as one list kernel an operation.
enum class AdamKernel : std::uint8_t { fused, foreach };
/// How a PyTorch system computes logits and their cross-entropy: all at once in fp32; fp32 of an
/// eighth at a time, as torchtune's CEWithChunkedOutputLoss; or chunk by chunk with their
/// gradients, as Liger's and Unsloth's fused losses.
enum class LossKernel : std::uint8_t { whole, chunked, fused };
enum class CheckpointPlacement : std::uint8_t { device, host };
/// Inputs of every layer, or of every second one, from which the layer before the others computes
/// theirs again.
enum class SavedInputs : std::uint8_t { all, half };
/// A token attends to all of its sequence before it, or of its document.
enum class AttendWithin : std::uint8_t { sequence, document };
/// Gradient clipping by global norm: as the run decides, with the memory and the results of
/// `exact`; exactly, after all gradients; speculatively, and redone if the factor was wrong; or
/// none.
enum class Clipping : std::uint8_t { automatic, exact, speculative, off };
/// Which sections apart from the layers stay on the device with their states: none, the head
/// (output projection and final norm), or head and token embedding.
enum class ResidentTables : std::uint8_t { none, head, both };

/// FP8 products have sums of multiples of so many terms.
inline constexpr std::int64_t kFp8Terms = 16;

struct TrainingSpec {
    Schedule schedule = {};               ///< ours, or another system's for comparison
    std::int64_t gpus = 1;                ///< that train together
    AdamKernel adam = AdamKernel::fused;  ///< of PyTorch
    LossKernel loss = LossKernel::whole;  ///< of PyTorch
    std::int64_t batch = 8;               ///< sequences a step, of all GPUs
    std::int64_t micro_batch = 0;   ///< sequences that pass a layer together; 0: those of a pass
    std::int64_t passes = 1;        ///< over the model in a step, each over its part of the batch
    std::int64_t sequence = 1024;   ///< tokens of a sequence
    std::int64_t buffer_depth = 2;  ///< weight slots on the device
    std::int64_t gradient_slabs =
        2;  ///< layer gradients on the device that wait for their copy to the host
    std::int64_t host_gradient_slabs =
        0;  ///< pinned layer gradients that wait for the optimizer; 0: the schedule's own
    Compute compute = Compute::bf16;  ///< of the layers' products
    Compute head_gradients =
        Compute::bf16;                    ///< of the products of the output projection's gradients
    std::int64_t weight_code_layers = 0;  ///< first layers whose weights are cast once a step
    Compute stream_weights = Compute::bf16;  ///< form in which layers on the host arrive
    Recompute recompute = Recompute::full;
    AttentionKernel attention = AttentionKernel::own;
    std::int64_t keep_last_layers = 0;  ///< last layers that keep everything for backward
    /// Others, evenly spread, that keep everything too, on the host.
    std::int64_t host_kept_layers = 0;
    std::int64_t keep_attention_layers =
        0;                        ///< that keep attention's output; see homes/kept_attention.cpp
    std::int64_t kept_bits = 16;  ///< of each number of gate and up where these are kept
    /// First layers whose weights and states stay on the device, where the GPU updates them.
    std::int64_t resident_layers = 0;
    ResidentTables resident_tables = ResidentTables::none;
    /// Layers on the host, evenly spread, whose updates run beside the next forward, in its order.
    std::int64_t deferred_layers = 0;
    /// First layers on the host whose states come to the device to be updated, and leave again.
    std::int64_t visiting_layers = 0;
    /// Others on the host, evenly spread, whose moments wait for the next backward.
    std::int64_t late_moment_layers = 0;
    CheckpointPlacement checkpoints = CheckpointPlacement::device;
    SavedInputs saved_inputs = SavedInputs::all;
    std::int64_t adapter_rank = 0;  ///< of low-rank adapters; 0: all weights are trained
    AdapterTargets adapter_targets = kAllTargets;  ///< linear layers that have them
    std::int64_t adapter_dropout_percent = 0;      ///< of the numbers that these read
    /// Form of frozen layers; bf16: that of their products.
    Form frozen_weights = Form::bf16;
    std::int64_t state_bytes = 12;       ///< of master and moments: a row of kStatePrecisions
    std::int64_t optimizer_threads = 0;  ///< 0: the count that is fastest on the machine
    Clipping clipping = Clipping::automatic;
    std::int64_t loss_chunk_tokens = 4096;  ///< tokens whose logits exist at once
    std::int64_t feed_forward_chunk_tokens =
        0;  ///< tokens whose feed-forward activations exist at once; 0: the micro-batch
    AttendWithin attend_within = AttendWithin::sequence;
    std::int64_t document_tokens = 0;  ///< of the document of a mean token; 0: of a sequence
    std::int64_t distinct_tokens = 0;  ///< different tokens in a batch: rows of the embedding that
                                       ///< it uses; 0: every token differs
    std::int64_t sub_group_elements =
        0;  ///< elements that DeepSpeed's optimizer updates at once; 0: the schedule's own
    double device_budget_bytes = 0;  ///< limit of device memory; 0: all of it
    double host_budget_bytes = 0;    ///< limit of host memory; 0: all of it
    OwnOptions own = {};             ///< of single schedules

    std::int64_t batch_of_a_gpu() const { return batch / gpus; }
    std::int64_t micro_batch_sequences() const {
        return micro_batch == 0 ? std::max<std::int64_t>(1, batch_of_a_gpu() / passes)
                                : micro_batch;
    }
    std::int64_t micro_batches() const { return batch_of_a_gpu() / micro_batch_sequences(); }
    std::int64_t micro_batches_of_a_pass() const { return micro_batches() / passes; }
    /// Sequences of all GPUs, where these take turns at micro-batches that are nearly equal.
    double sequences_of_a_pass() const {
        return static_cast<double>(batch) / static_cast<double>(passes);
    }
    std::int64_t shared_micro_batches_of_a_pass() const {
        return static_cast<std::int64_t>(
            std::ceil(sequences_of_a_pass() / static_cast<double>(micro_batch_sequences())));
    }
    std::int64_t tokens() const { return batch * sequence; }
    bool within_documents() const { return attend_within == AttendWithin::document; }
    bool computes_in_fp8() const {
        return compute == Compute::fp8 || head_gradients == Compute::fp8;
    }
    /// Our updates wait until the norm is known, since gradients clip. Other systems clip so only
    /// if it is asked for.
    bool updates_after_norm() const {
        return clipping == Clipping::exact || (schedule->ours && clipping == Clipping::automatic);
    }
    /// The optimizer writes FP8 codes of layers on the host, and these are copied to the device.
    bool streams_codes() const { return stream_weights == Compute::fp8; }
    AdapterShape adapters() const {
        return {adapter_rank, adapter_targets, adapter_dropout_percent};
    }
    /// The form of frozen layers: no product in FP8 reads more of them than their codes.
    Form frozen_form() const {
        if (frozen_weights != Form::bf16) return frozen_weights;
        return compute == Compute::fp8 ? Form::e4m3 : Form::bf16;
    }
    /// Codes are all that there is of frozen layers.
    bool freezes_codes() const { return adapter_rank > 0 && frozen_form() != Form::bf16; }
    TokenBlock micro_batch_block() const {
        return {micro_batch_sequences(), sequence, feed_forward_chunk_tokens, 0, document_tokens};
    }
    TokenBlock batch_block() const { return {batch, sequence, 0, 0, document_tokens}; }
    bool saves_half() const { return saved_inputs == SavedInputs::half; }
    bool resident_head() const { return resident_tables != ResidentTables::none; }
    bool resident_embedding() const { return resident_tables == ResidentTables::both; }
};

/// All options, also those of single schedules, in the order of display. The CLI, the JSON reader,
/// --help and forms derive from this list.
const std::vector<Option>& training_options();
/// Those of them that the kinds of homes in sim/plan/homes declare, in the order of the kinds.
const std::vector<Option>& home_options();
/// Throws InternalError where none has that field.
const Option& training_option(std::string_view field);

/// Sets one option from text, as given by a flag; `where` is the name in messages. Throws
/// InputError.
void set_option(TrainingSpec& spec, const Option& option, std::string_view text,
                std::string_view where);

/// Value of an option as text: a choice's name, or the number.
std::string option_text(const TrainingSpec& spec, const Option& option);

/// The options of the spec's schedule as text, by field.
std::map<std::string, std::string> option_texts(const TrainingSpec& spec);

/// Sets the options that a JSON object gives, by their fields. Throws InputError.
void set_options(TrainingSpec& spec, const JsonObject& object);

/// The options of a training.json as text, by field; all of them are checked. Throws InputError.
std::map<std::string, std::string> parse_option_texts(std::string_view text,
                                                      const std::string& file);
/// Throws InputError.
TrainingSpec parse_training_spec(std::string_view text, const std::string& file);

/// The first rule between options (batch divisible by micro-batch, ...) that is broken, and why.
std::optional<Refusal> refusal_of(const TrainingSpec& spec);
/// The same of the kinds of homes alone.
std::optional<Refusal> home_refusal(const TrainingSpec& spec);
/// Throws InputError where there is one.
void check_training_spec(const TrainingSpec& spec);

/// Meaning, range and default in one line.
std::string option_help(const Option& option);
/// The brief meaning with the default in brackets.
std::string option_brief(const Option& option);
/// The form of a value: N, SIZE, {bf16,fp8}.
std::string option_value(const Option& option);
/// The flag of a field: `--micro-batch` for `micro_batch`.
std::string field_flag(std::string field);
std::string option_flag(const Option& option);

/// The settings with which the users of its system run it; options with the fields of `given` keep
/// their values. Throws InputError if they break a rule with these.
TrainingSpec as_users_run(TrainingSpec asked, const std::set<std::string>& given);

/// A field of a scenario and its value, as typed: {"micro_batch", "8"}, {"host_memory", "512GB"}.
struct Setting {
    std::string field, value;
    bool operator==(const Setting&) const = default;
};
/// The options of `changed` that differ from those of `asked`.
std::vector<Setting> changed_settings(const TrainingSpec& asked, const TrainingSpec& changed);
/// "--host-memory 512GB --micro-batch 8".
std::string setting_flags(const std::vector<Setting>& settings);
/// "Host memory 512GB, Micro batch 8": the fields as the window names them.
std::string setting_words(const std::vector<Setting>& settings);

}  // namespace sluice
