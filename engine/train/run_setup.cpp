#include "engine/train/run_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>

#include "engine/data/data_facts.h"
#include "engine/layers/layer_layout.h"
#include "engine/machine/machine_here.h"
#include "engine/machine/setup_warnings.h"
#include "engine/train/adapter_files.h"
#include "engine/train/model_files.h"
#include "engine/train/progress.h"
#include "engine/train/state_snapshot.h"
#include "engine/train/weights_file.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

void allow_many_files() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

void refuse_bytes(const TokenSource& tokens, const TrainSettings& settings) {
    auto tokenizer = tokenizer_file(settings.model_files);
    if (!tokenizer) tokenizer = tokenizer_file(settings.model);
    if (!tokenizer) return;
    for (std::size_t i = 0; i < tokens.shard_count(); ++i)
        if (tokens.shard(i).width() == TokenWidth::byte)
            throw InputError(fmt::format(
                "{}: is text, whose bytes would be the tokens, but the model has a tokenizer, {}; "
                "turn the text into tokens with ./dev data",
                tokens.shard(i).path(), *tokenizer));
}

std::int64_t check_inputs(const ModelSpec& model, const TrainingSpec& training,
                          const TrainSettings& settings, bool resumed) {
    for (const LayerSpec& kind : model.kinds) layer_layout(model, kind);
    if (has_experts(model) && training.adapters().has(kGateUp | kDown))
        throw InputError(
            fmt::format("--adapter-rank is {}, but {} has experts, for which sluice-train has no "
                        "adapters; give --adapter-targets q,k,v,o",
                        training.adapter_rank, model.name));
    if (has_experts(model) && training.frozen_weights != Form::bf16)
        throw InputError(
            fmt::format("--frozen-weights is given, but {} has experts, whose weights "
                        "are in bf16 alone; leave it out",
                        model.name));
    const auto opened = [&](const std::vector<std::string>& data) {
        TokenSource tokens = open_tokens(data, model.vocabulary, training.within_documents());
        refuse_bytes(tokens, settings);
        if (const auto refusal = other_sequence(tokens, training.sequence))
            throw InputError(*refusal);
        tokens.check_some();
        return BatchSampler(std::move(tokens), training.batch, training.sequence, settings.seed);
    };
    const BatchSampler data = opened(settings.data);
    for (const ValidationSet& set : settings.validation) {
        const BatchSampler held_out = opened(set.files);
        const auto both = file_in_both(held_out.tokens(), data.tokens());
        if (both && !settings.evaluate_only)
            throw InputError(fmt::format(
                "--validation {}: is trained on, too, so its loss would say nothing; hold data out "
                "with ./dev data --held-out 0.05",
                *both));
    }
    if (settings.adapters && !resumed)
        check_adapters(*settings.adapters, model, training.adapters());
    if (settings.load && !resumed) check_weights(*settings.load, model, settings.fewer_tokens);
    return data.windows_per_epoch();
}

void check_what_is_kept(const TrainSettings& settings, bool resumed) {
    if (settings.load && !settings.out && !settings.discard && !settings.evaluate_only)
        throw InputError(fmt::format(
            "--load {} is given without --out, so that what is learned would be lost; give --out "
            "FOLDER, or --discard if this is meant",
            *settings.load));
    if (settings.load || settings.random_weights || resumed) return;
    if (const auto weights = weights_beside(settings.model))
        throw InputError(fmt::format(
            "--model {}: holds weights, {}, which are not read without --load; give --load {} to "
            "start from them, or --random-weights",
            settings.model, *weights, settings.model));
}

DeviceFacts check_device(const TrainSettings& settings) {
    const HostFacts host = read_host_facts();
    DeviceFacts device = make_device(settings.device, settings.cpu_threads, host)->facts();
    choose_precision(settings, device);
    machine_of_run(settings, host, device);
    return device;
}

DType choose_precision(const TrainSettings& settings, const DeviceFacts& device) {
    if (settings.precision == "auto") return device.is_gpu ? DType::bf16 : DType::fp32;
    if (settings.precision == "bf16") return DType::bf16;
    if (settings.precision != "fp32")
        throw InputError(
            fmt::format("--precision is \"{}\", expected auto, bf16 or fp32", settings.precision));
    if (device.is_gpu)
        throw InputError("--precision fp32 runs on the CPU only; give --device cpu, or bf16");
    return DType::fp32;
}

void check_fp8(const TrainingSpec& training, const DeviceFacts& device) {
    if (!training.computes_in_fp8() || device.has_fp8) return;
    const char* const option = training.compute == Compute::fp8 ? "--compute" : "--head-gradients";
    if (device.is_gpu)
        throw InputError(
            fmt::format("{0} is fp8, but {1} has no FP8 products, which NVIDIA's GPUs have from "
                        "compute capability 8.9 on; leave {0} out",
                        option, device.name));
    say(fmt::format("{} is fp8: a CPU computes the codes of a GPU one by one, slower than bf16\n",
                    option));
}

void check_documents(const ModelSpec& model, const TrainingSpec& training,
                     const DeviceFacts& device) {
    if (!training.within_documents() || !device.is_gpu) return;
    if (!device.has_document_attention)
        throw InputError(
            fmt::format("--attend-within is document, but {} cannot do this within the planned "
                        "memory: NVIDIA's GPUs of compute capability 9 and 10 can; give sequence",
                        device.name));
    for (const LayerSpec& kind : model.kinds)
        if (kind.attention.head_dim % 16 != 0)
            throw InputError(
                fmt::format("model: head_dim is {}, expected a multiple of 16 for --attend-within "
                            "document on a GPU; choose another model, or give sequence",
                            kind.attention.head_dim));
}

void check_experts(const ModelSpec& model, const DeviceFacts& device) {
    if (!has_experts(model) || !device.is_gpu || device.has_expert_products) return;
    throw InputError(
        fmt::format("model: {} has experts, but {} has no products for them: NVIDIA's GPUs of "
                    "compute capability 9 and 10 have (H100, H200, B200); choose another model or "
                    "GPU",
                    model.name, device.name));
}

MachineSpec machine_of_run(const TrainSettings& settings, const HostFacts& host,
                           const DeviceFacts& device) {
    std::optional<GpuFacts> gpu;
    if (device.is_gpu) gpu = {device.name, device.memory_capacity, device.context};
    std::optional<Bytes> host_memory;
    if (settings.host_memory)
        host_memory = static_cast<Bytes>(parse_memory_size(*settings.host_memory, "--host-memory"));
    return machine_here(host, gpu, host_memory);
}

namespace {

std::string products_in_fp8(const TrainingSpec& training) {
    const bool layers = training.compute == Compute::fp8,
               head = training.head_gradients == Compute::fp8;
    if (layers)
        return head ? ", products of layers and of the head's gradients in FP8"
                    : ", products of layers in FP8";
    return head ? ", products of the head's gradients in FP8" : "";
}

std::string size(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

Bytes choose_save_memory(const TrainSettings& settings, const Fit& fit, const HostFacts& host,
                         const ModelSpec& model, const TrainingSpec& training) {
    const bool saves_within = (settings.save_every > 0 && settings.save_every < settings.steps) ||
                              (settings.save_best && settings.validate_every < settings.steps);
    if (!settings.out || !saves_within) return 0;
    const Bytes needed = whole_snapshot_bytes(model, training);
    if (settings.save_memory) return std::min(needed, *settings.save_memory);
    rlimit space{};  // it also counts what is mapped and never touched
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) return 0;
    Bytes free = fit.host().usable;
    for (const auto& limit : {host.memory_available, host.commit_left})
        free = std::min(free, limit.value_or(free));
    const Bytes left = std::max<Bytes>(free - fit.host().peak.bytes, 0);
    return std::min(needed, left / 2);
}

PlannedStep with_save_memory(PlannedStep plan, const TrainingSpec& training, Bytes bytes) {
    const bool pinned =
        training.resident_layers > 0 || training.resident_head() || training.adapter_rank > 0;
    Peak& host = plan.fit.host().peak;
    host.bytes += bytes;
    const MemoryKind kind = pinned ? MemoryKind::pinned_buffers : MemoryKind::workspace;
    host.by_kind[static_cast<std::size_t>(kind)] += bytes;
    return plan;
}

void print_planned_memory(const AskedStep& asked, const Fit& fit, const DeviceFacts& device,
                          DType activations) {
    say(fmt::format("{} ({} parameters, {} layers) on {}, activations in {}{}\n", asked.model_name,
                    format_count(static_cast<double>(asked.parameters)), asked.layers, device.name,
                    activations == DType::fp32 ? "fp32" : "bf16", products_in_fp8(asked.training)));
    say(fmt::format("{:<16} {:>10} {:>10}\n", "planned memory", "device", "host"));
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<std::size_t>(i);
        const Bytes on_device = fit.device().peak.by_kind[kind];
        const Bytes on_host = fit.host().peak.by_kind[kind];
        if (on_device + on_host == 0) continue;
        say(fmt::format("{:<16} {:>10} {:>10}\n", memory_kind_name(static_cast<MemoryKind>(i)),
                        size(on_device), size(on_host)));
    }
    say(fmt::format("{:<16} {:>10} {:>10}\n", "peak", size(fit.device().peak.bytes),
                    size(fit.host().peak.bytes)));
}

void refuse_misfit(const PlannedStep& plan, const std::string& hint) {
    if (plan.fit.fits()) return;
    std::vector<std::string> words;
    for (const Fit::OfMemory& one : plan.fit.memories) {
        if (one.shortfall() == 0) continue;
        std::string name = "the " + memory_name(one.memory);
        // The CPU's device memory is the host's and has only the limit that a budget sets.
        if (plan.unified_memory && one.memory == Tier::device) name = "the budget of device memory";
        if (plan.unified_memory && one.memory == Tier::host)
            name = "host memory, the CPU's device memory included,";
        words.push_back(fmt::format("{} needs {}, has {} (short {})", name, size(one.peak.bytes),
                                    size(one.usable), size(one.shortfall())));
    }
    throw InputError(
        fmt::format("does not fit: {}; sluice predict names what would fit a machine like this{}",
                    fmt::join(words, "; "), hint.empty() ? "" : ". " + hint));
}

HostRates rates_today(const ExpectedRates& expected, const ParameterStore& store,
                      const StepBuffers& buffers, char* gradients, ThreadPool& pool,
                      Device& device) {
    const HostRates rates =
        probe_host(store, buffers, gradients, pool, device).value_or(HostRates());
    if (rates.known()) say(rates_text(expected, rates) + "\n");
    return rates;
}

ThreadPlacement place_threads(const HostFacts& host_facts, const DeviceFacts& device,
                              Bytes host_bytes, Bytes pinned_bytes, int optimizer_threads) {
    ThreadPlacement placement =
        choose_placement(host_facts, {device.numa_node, optimizer_threads, host_bytes});
    say(fmt::format("{}\n", placement.text));
    const SetupNeeds needs{host_bytes, device.is_gpu ? pinned_bytes : 0, device.numa_node,
                           optimizer_threads};
    for (const std::string& note : placement.notes) say(fmt::format("note: {}\n", note));
    for (const std::string& warning : setup_warnings(host_facts, needs))
        say(fmt::format("warning: {}\n", warning));
    return placement;
}

}  // namespace sluice
