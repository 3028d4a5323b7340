// Which options does a training have? Those of homes are declared by the kinds of homes, those that
// one system has alone by its schedule, and all others here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/declare_option.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

Option schedule_option() {
    std::vector<std::string_view> names;
    Option out{
        .group = OptionGroup::task,
        .field = "schedule",
        .unit = "",
        .low = 0,
        .high = static_cast<double>(schedule_table().size() - 1),
        .choices = {},
        .brief = "",
        .help = "system whose order of operations is planned",
        .get = [](const TrainingSpec& spec) { return static_cast<double>(spec.schedule.index()); },
        .set =
            [](TrainingSpec& spec, double value) {
                spec.schedule = Schedule(schedule_table()[static_cast<std::size_t>(value)]);
            },
        .value_name = "NAME"};
    for (const ScheduleRecord& record : schedule_table()) {
        out.choices.push_back({record.name, Schedule(record).index()});
        names.emplace_back(record.name);
    }
    out.brief = fmt::format("system that is planned: {}", fmt::join(names, ", "));
    return out;
}

/// The others, in the order of display.
std::vector<Option> shared_options() {
    using T = TrainingSpec;
    constexpr Listed task{OptionGroup::task}, placement{OptionGroup::placement},
        system{OptionGroup::system};
    return {
        schedule_option(),
        number_option<&T::gpus>(task, "gpus", "GPUs", 1, 65'536,
                                "GPUs that train together: up to those of a node, or whole nodes"),
        number_option<&T::batch>(task, "batch", "sequences", 1, 1'000'000,
                                 "sequences a step, of all GPUs together"),
        number_option<&T::micro_batch>(
            task, "micro_batch", "sequences", 0, 1'000'000, "sequences that pass a layer together",
            "sequences that pass a layer (streamed) or the model (other "
            "schedules) together, of each GPU's part of the batch, cut by "
            "the passes")
            .with_zero("the whole batch")
            .with_numbers("a whole number of sequences to 1000000, or 0 for the whole batch"),
        number_option<&T::passes>(
            task, "passes", "", 1, 1024, "passes over the model in a step (gradient accumulation)",
            "forward and backward passes over the model in a step, each over its part of the "
            "batch; gradients are summed, and parameters updated once (gradient accumulation)"),
        number_option<&T::sequence>(task, "seq", "tokens", 1, 100'000'000, "tokens of a sequence")
            .varied_over({512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}),
        number_option<&T::buffer_depth>(placement, "buffer_depth", "layers", 1, 64,
                                        "weight slots on the device: 2 is double buffering")
            .varied_over({1, 2, 3, 4}),
        number_option<&T::gradient_slabs>(
            placement, "gradient_slabs", "layers", 1, 64,
            "layer gradients that wait on the device to be copied",
            "layer gradients that wait on the device for their copy to the host")
            .varied_over({1, 2, 3, 4}),
        number_option<&T::host_gradient_slabs>(placement, "host_gradient_slabs", "layers", 0, 1024,
                                               "pinned layer gradients that wait for the optimizer")
            .with_zero("streamed 4, megatrain 12")
            .varied_over({0, 2, 4, 8, 16}),
        choice_option<&T::compute>(task, "compute",
                                   {{"bf16", Compute::bf16}, {"fp8", Compute::fp8}},
                                   "precision of the layers' matrix products"),
        choice_option<&T::head_gradients>(
            task, "head_gradients", {{"bf16", Compute::bf16}, {"fp8", Compute::fp8}},
            "precision of products for the output projection's gradients",
            "precision of the products that give the gradients of the output projection; logits "
            "are in bf16"),
        choice_option<&T::recompute>(placement, "recompute",
                                     {{"full", Recompute::full},
                                      {"keep_attention", Recompute::keep_attention},
                                      {"none", Recompute::none}},
                                     "tensors that backward computes again (activation "
                                     "checkpointing)"),
        choice_option<&T::attention>(
            system, "attention",
            {{"own", AttentionKernel::own},
             {"flash2", AttentionKernel::flash2},
             {"flash3", AttentionKernel::flash3},
             {"flash4", AttentionKernel::flash4},
             {"cudnn", AttentionKernel::cudnn}},
            "attention of PyTorch systems; own: FlashAttention-2, which PyTorch 2.11 chooses"),
        number_option<&T::kept_bits>(
            placement, "kept_bits", "bits", 8, 16,
            "bits of kept gate and up: 16, or 8 (compressed activations)",
            "bits of each number of gate and up, the largest tensor that a layer keeps for "
            "backward: 16, or 8 with a scale for every 128 numbers (compressed activations)")
            .with_numbers("16 (bf16) or 8 (integers with a scale for every 128)"),
        choice_option<&T::adam>(system, "adam",
                                {{"fused", AdamKernel::fused}, {"foreach", AdamKernel::foreach}},
                                "kernels of PyTorch's Adam: fused, or its default, foreach"),
        choice_option<&T::loss>(
            system, "loss",
            {{"whole", LossKernel::whole},
             {"chunked", LossKernel::chunked},
             {"fused", LossKernel::fused}},
            "logits of PyTorch systems that are in memory at once: all, ...",
            "logits of PyTorch systems that are in memory at once: all in fp32, an eighth in fp32 "
            "(torchtune's chunked loss), or a chunk with its gradients (Liger, Unsloth)"),
        number_option<&T::state_bytes>(
            task, "state_bytes", "bytes a parameter", kStatePrecisions.back().bytes,
            kStatePrecisions.front().bytes,
            "bytes a parameter of master and moments: 12, 8, 6, 5 or 4",
            "master and moments: 12 (fp32), 8 (bf16 moments), 6 (8-bit moments), 5 or 4 (8-bit "
            "moments and a master of 24 or 16 bits)")
            .with_numbers(state_bytes_choices_in_words())
            .varied_over({4, 5, 6, 8, 12}),
        number_option<&T::optimizer_threads>(placement, "optimizer_threads", "threads", 0, 1024,
                                             "threads of the optimizer")
            .with_zero("the fastest number on the machine")
            .varied_over({0, 4, 8, 16, 32, 64}),
        choice_option<&T::clipping>(
            task, "clipping",
            {{"auto", Clipping::automatic},
             {"exact", Clipping::exact},
             {"speculative", Clipping::speculative},
             {"off", Clipping::off}},
            "gradient clipping by global norm",
            "gradient clipping by global norm: exact waits for the norm; auto gives its results; "
            "speculative takes updates back, and runs each step twice whose clipping factor "
            "changes"),
        number_option<&T::loss_chunk_tokens>(
            placement, "loss_chunk_tokens", "tokens", 1, 100'000'000,
            "tokens whose logits exist at once",
            "tokens whose logits exist at once (chunked cross-entropy)"),
        number_option<&T::feed_forward_chunk_tokens>(
            placement, "feed_forward_chunk_tokens", "tokens", 0, 100'000'000,
            "tokens whose feed-forward activations exist at once")
            .with_zero("the whole micro-batch")
            .varied_over({0, 2048, 4096, 8192, 16384}),
        choice_option<&T::attend_within>(
            task, "attend_within",
            {{"sequence", AttendWithin::sequence}, {"document", AttendWithin::document}},
            "tokens to which a token attends (document: a mask)",
            "what a token attends to: all of its sequence before it, or of its document alone"),
        number_option<&T::document_tokens>(
            task, "document_tokens", "tokens", 0, 100'000'000,
            "a mean token's document; 0: its sequence",
            "length of a mean token's document, for predictions of attention within documents; 0: "
            "that of a sequence, the most that it can be"),
        number_option<&T::distinct_tokens>(
            task, "distinct_tokens", "tokens", 0, 100'000'000, "different tokens in a batch",
            "different tokens in a batch; their embedding rows are updated between two "
            "steps")
            .with_zero("every token differs")
            .varied_over({0, 1024, 4096, 16384}),
        number_option<&T::sub_group_elements>(
            system, "sub_group_elements", "elements", 0, 100'000'000'000,
            "elements that the optimizer updates at once; 0: its own number",
            "elements that DeepSpeed's optimizer updates at once (sub_group_size); 0: the "
            "schedule's own (zero3-offload and zero-infinity 1e9, superoffload 4e8)")
            .varied_over({0, 1e8, 4e8, 1e9}),
        memory_option<&T::device_budget_bytes>(placement, "device_budget_bytes",
                                               "limit of device memory")
            .with_zero("all of it")
            .varied_over({0, 16e9, 24e9, 40e9, 80e9}),
        memory_option<&T::host_budget_bytes>(placement, "host_budget_bytes", "limit of host memory")
            .with_zero("all of it")
            .varied_over({0, 64e9, 128e9, 256e9, 512e9, 1e12})};
}

std::vector<Option> all_options() {
    std::vector<Option> out = shared_options();
    const auto insert = [&](const std::vector<Option>& options) {
        for (const Option& one : options)
            out.insert(std::ranges::find(out, std::string_view(one.before), &Option::field), one);
    };
    insert(home_options());
    for (const ScheduleRecord& record : schedule_table()) insert(record.own_options);
    return out;
}

}  // namespace

const std::vector<Option>& training_options() {
    static const std::vector<Option> options = all_options();
    return options;
}

}  // namespace sluice
