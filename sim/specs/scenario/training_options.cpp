// Which options does a training have? Each is declared here, once.
#include "sim/specs/scenario/state_precision.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {
namespace {

/// Declares an option on one field of TrainingSpec; the field's type decides the conversion.
template <auto Member>
Option option(const char* field, const char* unit, double low, double high, const char* help,
              std::vector<Choice> choices = {}) {
    Option declared{field, unit, low, high, std::move(choices), help, false, nullptr, nullptr};
    declared.get = [](const TrainingSpec& spec) { return static_cast<double>(spec.*Member); };
    declared.set = [](TrainingSpec& spec, double value) {
        using Field = std::remove_reference_t<decltype(spec.*Member)>;
        spec.*Member = static_cast<Field>(value);
    };
    return declared;
}

template <auto Member>
Option memory_option(const char* field, const char* help) {
    constexpr double kLargest = 1e15;
    Option declared = option<Member>(field, "bytes", 0, kLargest, help);
    declared.is_memory = true;
    return declared;
}

/// An option for which only some numbers of its range mean something.
Option with_numbers(Option declared, std::string numbers) {
    declared.numbers = std::move(numbers);
    return declared;
}

/// An option whose 0 is no number of its unit.
Option with_zero(Option declared, const char* zero) {
    declared.zero = zero;
    declared.help += std::string("; 0: ") + zero;
    return declared;
}

template <typename Enum>
int index(Enum value) {
    return static_cast<int>(value);
}

Option schedule_option() {
    std::vector<Choice> choices;
    for (const ScheduleRecord& record : schedule_table())
        choices.push_back({record.name, Schedule(record).index()});
    Option declared{"schedule",
                    "",
                    0,
                    static_cast<double>(choices.size() - 1),
                    std::move(choices),
                    "system whose order of operations is planned",
                    false,
                    nullptr,
                    nullptr};
    declared.get = [](const TrainingSpec& spec) {
        return static_cast<double>(spec.schedule.index());
    };
    declared.set = [](TrainingSpec& spec, double value) {
        spec.schedule = Schedule(schedule_table()[static_cast<std::size_t>(value)]);
    };
    return declared;
}

std::vector<Option> declare_training_options() {
    using T = TrainingSpec;
    std::vector<Option> options;
    options.push_back(schedule_option());
    options.push_back(
        option<&T::gpus>("gpus", "GPUs", 1, 65'536,
                         "GPUs that train together: up to those of a node, or whole nodes"));
    options.push_back(
        option<&T::sharding>("sharding", "", 0, 3,
                             "tensors split over the GPUs: everything as in FSDP2 "
                             "and ZeRO-3, gradients and states as in ZeRO-2, states as in ZeRO-1, "
                             "nothing as in DDP",
                             {{"full", index(Sharding::full)},
                              {"states", index(Sharding::states)},
                              {"none", index(Sharding::none)},
                              {"gradients", index(Sharding::gradients)}}));
    options.push_back(option<&T::batch>("batch", "sequences", 1, 1'000'000,
                                        "sequences a step, of all GPUs together"));
    options.push_back(with_numbers(
        with_zero(
            option<&T::micro_batch>("micro_batch", "sequences", 0, 1'000'000,
                                    "sequences that pass a layer (streamed) or the model (other "
                                    "schedules) together, of each GPU's part of the batch, cut by "
                                    "the passes"),
            "the whole batch"),
        "a whole number of sequences to 1000000, or 0 for the whole batch"));
    options.push_back(option<&T::passes>(
        "passes", "", 1, 1024,
        "forward and backward passes over the model in a step, each over its part of the batch; "
        "gradients are summed, and parameters updated once"));
    options.push_back(
        option<&T::sequence>("seq", "tokens", 1, 100'000'000, "tokens of a sequence"));
    options.push_back(option<&T::buffer_depth>(
        "buffer_depth", "layers", 1, 64, "weight slots on the device: 2 is double buffering"));
    options.push_back(option<&T::gradient_slabs>(
        "gradient_slabs", "layers", 1, 64,
        "layer gradients that wait on the device for their copy to the host"));
    options.push_back(with_zero(
        option<&T::host_gradient_slabs>("host_gradient_slabs", "layers", 0, 1024,
                                        "pinned layer gradients that wait for the optimizer"),
        "streamed 4, megatrain 12"));
    options.push_back(
        option<&T::compute>("compute", "", 0, 1, "precision of the layers' matrix products",
                            {{"bf16", index(Compute::bf16)}, {"fp8", index(Compute::fp8)}}));
    options.push_back(
        option<&T::head_gradients>("head_gradients", "", 0, 1,
                                   "precision of the products that give the gradients of the "
                                   "output projection; logits are in bf16",
                                   {{"bf16", index(Compute::bf16)}, {"fp8", index(Compute::fp8)}}));
    options.push_back(option<&T::weight_code_layers>(
        "weight_code_layers", "layers", 0, 10'000,
        "first layers whose weights are cast to FP8 once a step, which takes 2 bytes a weight of "
        "device memory; others are cast for each product"));
    options.push_back(option<&T::stream_weights>(
        "stream_weights", "", 0, 1,
        "form in which weights of layers on the host are copied to the device; fp8: the optimizer "
        "writes their codes, too, which takes a byte a weight of host memory",
        {{"bf16", index(Compute::bf16)}, {"fp8", index(Compute::fp8)}}));
    options.push_back(option<&T::recompute>("recompute", "", 0, 2,
                                            "tensors that backward computes again",
                                            {{"full", index(Recompute::full)},
                                             {"keep_attention", index(Recompute::keep_attention)},
                                             {"none", index(Recompute::none)}}));
    options.push_back(option<&T::attention>(
        "attention", "", 0, 4,
        "attention of PyTorch systems; own: FlashAttention-2, which PyTorch 2.11 chooses",
        {{"own", index(AttentionKernel::own)},
         {"flash2", index(AttentionKernel::flash2)},
         {"flash3", index(AttentionKernel::flash3)},
         {"flash4", index(AttentionKernel::flash4)},
         {"cudnn", index(AttentionKernel::cudnn)}}));
    options.push_back(option<&T::keep_last_layers>("keep_last_layers", "layers", 0, 10'000,
                                                   "last layers that recompute nothing"));
    options.push_back(
        option<&T::host_kept_layers>("host_kept_layers", "layers", 0, 10'000,
                                     "further layers, evenly spread, that recompute nothing, at "
                                     "most as many as keep_last_layers "
                                     "leaves; what they keep for backward waits on the host"));
    options.push_back(option<&T::keep_attention_layers>(
        "keep_attention_layers", "layers", 0, 10'000,
        "last layers that keep the output of attention, which takes most of the time of long "
        "sequences; with saved_inputs half, layers with a saved input first"));
    options.push_back(with_numbers(
        option<&T::kept_bits>(
            "kept_bits", "bits", 8, 16,
            "bits of each number of gate and up, the largest tensor that a layer keeps for "
            "backward: 16, or 8 with a scale for every 128 numbers"),
        "16 (bf16) or 8 (integers with a scale for every 128)"));
    options.push_back(option<&T::resident_layers>(
        "resident_layers", "layers", 0, 10'000,
        "first layers whose weights and optimizer states stay in device memory, where the GPU "
        "updates them"));
    options.push_back(option<&T::resident_tables>(
        "resident_tables", "", 0, 2,
        "further weights that stay in device memory and are updated there: the output projection "
        "(head), or also the token embedding (both)",
        {{"none", index(ResidentTables::none)},
         {"head", index(ResidentTables::head)},
         {"both", index(ResidentTables::both)}}));
    options.push_back(
        option<&T::deferred_layers>("deferred_layers", "layers", 0, 10'000,
                                    "layers on the host, evenly spread, whose updates run beside "
                                    "the next forward in its order; "
                                    "their gradients wait on the host"));
    options.push_back(option<&T::visiting_layers>(
        "visiting_layers", "layers", 0, 10'000,
        "first layers on the host that the GPU updates with exact clipping: their weights and "
        "states come during backward and leave beside the next forward"));
    options.push_back(option<&T::late_moment_layers>(
        "late_moment_layers", "layers", 0, 10'000,
        "other layers on the host, evenly spread, of which exact clipping updates the weights "
        "beside the next forward, but the moments only beside the next backward"));
    options.push_back(option<&T::checkpoints>("checkpoints", "", 0, 1,
                                              "memory in which layer inputs wait for backward",
                                              {{"device", index(CheckpointPlacement::device)},
                                               {"host", index(CheckpointPlacement::host)}}));
    options.push_back(option<&T::saved_inputs>(
        "saved_inputs", "", 0, 1,
        "layer inputs that wait for backward: all, or half, from which backward computes the "
        "others again",
        {{"all", index(SavedInputs::all)}, {"half", index(SavedInputs::half)}}));
    options.push_back(option<&T::moments>(
        "moments", "", 0, 1, "memory in which the optimizer's moments wait",
        {{"device", index(MomentPlacement::device)}, {"host", index(MomentPlacement::host)}}));
    options.push_back(option<&T::offload>(
        "offload", "", 0, 3,
        "what else waits on the host, each with those before: bf16 masters of FP8 weights, the "
        "weights (two layers are on the device), the layers' gradients",
        {{"none", index(Offload::none)},
         {"masters", index(Offload::masters)},
         {"weights", index(Offload::weights)},
         {"gradients", index(Offload::gradients)}}));
    options.push_back(option<&T::update>(
        "update", "", 0, 1, "whether a step uses its update one step later, or at once",
        {{"delayed", index(Update::delayed)}, {"immediate", index(Update::immediate)}}));
    options.push_back(option<&T::adam>(
        "adam", "", 0, 1, "kernels of PyTorch's Adam: fused, or its default, foreach",
        {{"fused", index(AdamKernel::fused)}, {"foreach", index(AdamKernel::foreach)}}));
    options.push_back(option<&T::adapter_rank>("adapter_rank", "", 0, 65'536,
                                               "rank of the low-rank adapters (LoRA) of all linear "
                                               "layers, which alone are trained; 0: all "
                                               "weights are trained"));
    options.push_back(with_zero(
        option<&T::busy_experts>("busy_experts", "", 0, 65'536,
                                 "experts of a layer that tokens reach, evenly spread; an "
                                 "untrained router may choose the same ones for every token"),
        "all"));
    options.push_back(option<&T::checkpoint_interval>("checkpoint_interval", "layers", 1, 10'000,
                                                      "layers between checkpoints"));
    options.push_back(option<&T::fork>(
        "fork", "", 0, 3,
        "MegaTrain-Plus: gathers weights before each copy, keeps all layers' inputs, computes on "
        "views of the buffers; each with those before",
        {{"none", index(Fork::none)},
         {"flatten", index(Fork::flatten)},
         {"store", index(Fork::store)},
         {"views", index(Fork::views)}}));
    options.push_back(option<&T::flash_loss>("flash_loss", "", 0, 1,
                                             "1: use flash-attn's cross-entropy, as MegaTrain does "
                                             "if that library is installed"));
    options.push_back(with_numbers(
        option<&T::state_bytes>("state_bytes", "bytes a parameter", kStatePrecisions.back().bytes,
                                kStatePrecisions.front().bytes,
                                "master and moments: 12 (fp32), 8 (bf16 moments), 6 (8-bit "
                                "moments), 5 or 4 (8-bit moments and a master of 24 or 16 bits)"),
        state_bytes_choices_in_words()));
    options.push_back(with_zero(option<&T::optimizer_threads>("optimizer_threads", "threads", 0,
                                                              1024, "threads of the optimizer"),
                                "the fastest number on the machine"));
    options.push_back(
        option<&T::clipping>("clipping", "", 0, 3,
                             "gradient clipping by global norm: exact waits for the norm; auto "
                             "gives its results; speculative takes updates back, and runs each "
                             "step twice whose clipping factor changes",
                             {{"auto", index(Clipping::automatic)},
                              {"exact", index(Clipping::exact)},
                              {"speculative", index(Clipping::speculative)},
                              {"off", index(Clipping::off)}}));
    options.push_back(option<&T::loss_chunk_tokens>("loss_chunk_tokens", "tokens", 1, 100'000'000,
                                                    "tokens whose logits exist at once"));
    options.push_back(with_zero(option<&T::feed_forward_chunk_tokens>(
                                    "feed_forward_chunk_tokens", "tokens", 0, 100'000'000,
                                    "tokens whose feed-forward activations exist at once"),
                                "the whole micro-batch"));
    options.push_back(
        option<&T::attend_within>("attend_within", "", 0, 1,
                                  "what a token attends to: all of its sequence before it, or of "
                                  "its document alone",
                                  {{"sequence", index(AttendWithin::sequence)},
                                   {"document", index(AttendWithin::document)}}));
    options.push_back(option<&T::document_tokens>(
        "document_tokens", "tokens", 0, 100'000'000,
        "length of a mean token's document, for predictions of attention within documents; 0: that "
        "of a sequence, the most that it can be"));
    options.push_back(with_zero(
        option<&T::distinct_tokens>("distinct_tokens", "tokens", 0, 100'000'000,
                                    "different tokens in a batch; their embedding rows are updated "
                                    "between two steps"),
        "every token differs"));
    options.push_back(option<&T::sub_group_elements>(
        "sub_group_elements", "elements", 0, 100'000'000'000,
        "elements that DeepSpeed's optimizer updates at once (sub_group_size); 0: the schedule's "
        "own (zero3-offload and zero-infinity 1e9, superoffload 4e8)"));
    options.push_back(
        option<&T::offload_params>("offload_params", "", 0, 1,
                                   "0: each of DeepSpeed's GPUs keeps its part of the parameters"));
    options.push_back(option<&T::overlap_comm>("overlap_comm", "", 0, 1,
                                               "0: DeepSpeed copies on the stream that computes"));
    options.push_back(option<&T::offload_percent>(
        "offload_percent", "percent", 0, 100,
        "share of the sub-groups that the processor updates (DeepSpeed's ratio); states of the "
        "others stay on the device"));
    options.push_back(with_zero(
        memory_option<&T::device_budget_bytes>("device_budget_bytes", "limit of device memory"),
        "all of it"));
    options.push_back(
        with_zero(memory_option<&T::host_budget_bytes>("host_budget_bytes", "limit of host memory"),
                  "all of it"));
    return options;
}

}  // namespace

const std::vector<Option>& training_options() {
    static const std::vector<Option> options = declare_training_options();
    return options;
}

}  // namespace sluice
