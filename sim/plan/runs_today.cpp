#include "sim/plan/runs_today.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sluice {
namespace {

std::string why_not(const Program& program, const TrainingSpec& training, const ModelSpec& model,
                    const MachineSpec& machine) {
    const std::string& maker = machine.gpu_maker;
    if (maker.empty()) return "the maker of the GPU is not known; give gpu.maker in the profile";
    if (std::ranges::find(program.gpu_makers, maker) == program.gpu_makers.end())
        return fmt::format("{} is known to run on {} GPUs only", program.name,
                           fmt::join(program.gpu_makers, " and "));
    std::string lacks = program.lacks == nullptr ? "" : program.lacks(model, maker);
    if (lacks.empty() && program.lacks_setting != nullptr)
        lacks = program.lacks_setting(training, model, machine);
    return lacks.empty() ? "" : fmt::format("{} has no {}", program.name, lacks);
}

}  // namespace

RunsToday runs_today(const TrainingSpec& training, const ModelSpec& model,
                     const MachineSpec& machine) {
    const Program& program = training.schedule->program;
    return {program.name, why_not(program, training, model, machine),
            fmt::format("{}, {}", program.source, program.date)};
}

RunsToday runs_today(Schedule schedule, const ModelSpec& model, const MachineSpec& machine) {
    TrainingSpec training;
    training.schedule = schedule;
    return runs_today(training, model, machine);
}

std::string setting_missing_in_trainer(const TrainingSpec& training, const ModelSpec& model,
                                       const MachineSpec& machine) {
    if (has_experts(model) && training.adapters().has(kGateUp | kDown))
        return "adapters of experts";
    if (has_experts(model) && training.frozen_weights != Form::bf16)
        return "frozen experts in a form other than bf16";
    const std::string& capability = machine.gpu_compute_capability;
    if (has_experts(model) && !capability.empty() && !multiplies_experts(capability))
        return fmt::format("experts on GPUs of compute capability {}", capability);
    if (training.within_documents() && !capability.empty() && !attends_within_documents(capability))
        return fmt::format("--attend-within document on GPUs of compute capability {}", capability);
    return "";
}

bool multiplies_experts(std::string_view compute_capability) {
    return compute_capability.starts_with("9.") || compute_capability.starts_with("10.");
}

bool attends_within_documents(std::string_view compute_capability) {
    return compute_capability.starts_with("9.") || compute_capability.starts_with("10.");
}

std::string missing_in_trainer(const ModelSpec& model, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const FeedForwardSpec& f = layer.feed_forward;
    if (a.head_dim % 2 != 0) return "heads of odd width";
    if (!model.not_trained.empty()) return model.not_trained;
    if (model.learned_positions > 0) return "learned positions";
    if (a.value_dim != a.head_dim) return "attention with values wider or narrower than keys";
    if (layer.norms != 2 || layer.norm_bias) return "norms but two RMSNorms a layer";
    if (f.bias) return "biases in the feed-forward";
    if (!f.gated) return "feed-forward without a gate";
    if (a.output_bias) return "bias on the attention output";
    if (a.sinks) return "attention sinks";
    if (a.latent) return "latent attention";
    if (f.experts == 0) return "";
    if (f.shared_intermediate > 0) return "experts that all tokens share";
    if (f.router_bias) return "bias of the router";
    // Their products copy whole packets of 16 bytes.
    if (f.intermediate % 8 != 0 || model.hidden % 8 != 0)
        return "experts of a width that is no multiple of 8";
    return "";
}

std::string missing_in_trainer(const ModelSpec& model, std::string_view) {
    for (const LayerSpec& layer : model.kinds)
        if (const std::string what = missing_in_trainer(model, layer); !what.empty()) return what;
    return "";
}

}  // namespace sluice
