// RoundPipe (from reading github.com/thustorage/RoundPipe at e813c67: scheduler.py, run.py,
// roundpipe.py, optim/adam.py, and its artifact's train.py): fp16 parameters and gradients and fp32
// masters, gradients and moments in host memory, 20 bytes a parameter; transformers' model in
// PyTorch. The GPUs of a node take turns at the stages of the model (roundpipe_stages.h), each for
// all micro-batches of a pass, which are nearly equal (torch.tensor_split). So one GPU's mean part
// is planned: of each stage, the micro-batches of a pass over the number of GPUs. A step:
//
// With --adapter-rank (train_lora.py) all linear layers of the layers are frozen and adapted;
// gradients, masters and moments are those of the adapters.
//
// Passes: each over its part of the batch (gradient accumulation). A stage's weights arrive during
// the stage before, backward's with the gradients of earlier passes, which leave again after it.
// Activations between stages and their gradients pass through host memory. Backward computes its
// stage again; the first of its stages runs forward and backward at once. A GPU waits for
// the stages before its own (pipeline_pace).
//
// Update, on the CPU, while the GPUs run the next step: the masters of the update before become
// fp16 parameters, layer by layer as forward needs them; gradients become fp32; Adam. Parameters
// are then one step old. With --update immediate (train-sync.py) the next step waits for its own.
#include <algorithm>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/plan/schedules/pytorch.h"
#include "sim/plan/schedules/roundpipe_layers.h"
#include "sim/specs/scenario/declare_option.h"

namespace sluice {
namespace {

constexpr double kLogitBytes = 2 * kBf16;  // of a chunk, with their gradients
// Host memory traffic of its Adam a parameter; conversions between fp16 and fp32 (HostWork::copy
// counts a byte read and written as one).
constexpr double kRoundPipeAdamTraffic = 7 * kFp32, kConversion = (kFp32 + kBf16) / 2.0;

class RoundPipe {
  public:
    RoundPipe(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          training_(training),
          gpus_(static_cast<double>(training.gpus)),
          of_a_pass_(training.shared_micro_batches_of_a_pass()),
          block_(roundpipe_block(training)),
          build_(kRoundPipeStyle, kRoundPipeOperations) {}

    StepPlan plan() {
        declare_layers();
        stages_ = roundpipe_stages(times(), static_cast<int>(training_.gpus));
        pace_ = pipeline_pace(pipeline_step());
        declare_memory();
        for (std::int64_t pass = 0; pass < training_.passes; ++pass) {
            for (const Stage& stage : stages_.forward) run_forward(stage, pass);
            for (const Stage& stage : stages_.backward) run_backward(stage, pass);
        }
        optimize();
        finish();
        return build_.finish();
    }

  private:
    using Kind = MemoryKind;

    /// With its kernels as the plan declares them.
    struct Layer {
        double parameters = 0, trained = 0;
        std::int32_t forward = 0, backward = 0;
        LayerTimes time;
    };

    void declare_layers() {
        for (RoundPipeLayer& layer : roundpipe_layers(model_, machine_, training_))
            layers_.push_back({layer.parameters, layer.trained,
                               build_.kernels(std::move(layer.forward)),
                               build_.kernels(std::move(layer.backward)), layer.time});
    }
    std::vector<LayerTimes> times() const {
        std::vector<LayerTimes> out;
        for (const Layer& layer : layers_) out.push_back(layer.time);
        return out;
    }

    Seconds time(const Stage& stage, Seconds LayerTimes::*direction) const {
        Seconds sum = 0;
        for (int layer = stage.begin; layer < stage.end; ++layer) sum += at(layer).time.*direction;
        return sum;
    }
    PipelineStep pipeline_step() const {
        PipelineStep step;
        step.gpus = static_cast<int>(training_.gpus);
        step.micro_batches = of_a_pass_;
        step.drains = update_ == Update::immediate;
        for (std::int64_t pass = 0; pass < training_.passes; ++pass) {
            for (const Stage& stage : stages_.forward)
                step.stages.push_back(time(stage, &LayerTimes::forward));
            for (const Stage& stage : stages_.backward)
                step.stages.push_back(time(stage, &LayerTimes::backward));
        }
        return step;
    }

    double sum(const Stage& stage, double Layer::*of) const {
        double out = 0;
        for (int layer = stage.begin; layer < stage.end; ++layer) out += at(layer).*of;
        return out;
    }
    double parameters(const Stage& stage) const { return sum(stage, &Layer::parameters); }
    double trained(const Stage& stage) const { return sum(stage, &Layer::trained); }
    Stage whole() const { return {0, static_cast<int>(layers_.size())}; }
    const Layer& at(int layer) const { return layers_[static_cast<std::size_t>(layer)]; }
    /// The hidden states of a GPU's part of a pass.
    double hidden() const {
        return training_.sequences_of_a_pass() / gpus_ * static_cast<double>(block_.sequence) *
               hidden_bytes(model_);
    }
    bool is_fused(const Stage& stage) const { return stage == stages_.backward.front(); }

    void declare_memory() {
        double largest = 0, largest_trained = 0;
        for (const Stage& stage : stages_.backward) {
            largest = std::max(largest, parameters(stage));
            largest_trained = std::max(largest_trained, trained(stage));
        }
        build_.on_device("weights of two stages", Kind::weights, 2 * kBf16 * largest);
        build_.on_device("gradients of two stages", Kind::gradients, 2 * kBf16 * largest_trained);
        build_.on_device("hidden states and gradients", Kind::activations,
                         4 * static_cast<double>(block_.tokens()) * hidden_bytes(model_));
        build_.on_device("cuBLAS workspaces", Kind::workspace, kBlasWorkspaces);
        const double all = trained(whole());
        declare_processes(machine_, 1, build_);
        build_.on_host("fp16 parameters", Kind::weights, kBf16 * parameters(whole()));
        build_.on_host("fp16 gradients", Kind::gradients, kBf16 * all);
        build_.on_host("fp32 gradients", Kind::gradients, kFp32 * all);
        build_.on_host("fp32 masters and moments", Kind::optimizer_state, 3 * kFp32 * all);
        const auto kept = static_cast<double>(stages_.forward.size() + stages_.backward.size());
        build_.on_host("stage inputs", Kind::checkpoints, kept * hidden() * gpus_);
    }

    /// A stage's weights and inputs arrive in one of two slots.
    OperationId arrive(const Stage& stage, bool with_gradients, double states) {
        const double elements = parameters(stage) + (with_gradients ? trained(stage) : 0);
        return build_.add(OperationKind::copy_weights_in, stage.begin - 1, {{before_}},
                          copy_operation(kBf16 * elements / gpus_ + states * hidden()));
    }
    /// Tensors of a stage's layers, but for the embedding and the head, which has logits.
    BufferUses activations(const Stage& stage) {
        const int layers = std::min(stage.end, model_.layer_count() + 1) - std::max(stage.begin, 1);
        const double saved = megatrain_saved(model_);
        const double a_token =
            layers > 0 ? (layers - 1) * saved + megatrain_backward_temporaries(model_) : 0;
        const auto block_tokens = static_cast<double>(block_.tokens());
        BufferUses out = {build_.device_buffer("activations of a stage", Kind::activations,
                                               block_tokens * a_token)};
        if (stage.end == static_cast<int>(layers_.size()))
            out.push_back(build_.device_buffer(
                "logits of a chunk", Kind::loss,
                std::min(block_tokens, static_cast<double>(kRoundPipeLossTokens)) *
                    static_cast<double>(model_.vocabulary) * kLogitBytes));
        return out;
    }
    /// The work of all micro-batches, each of which takes `one`.
    Operation work(const Stage& stage, std::int32_t Layer::*kernels, Seconds one) {
        Operation work;
        for (int layer = stage.begin; layer < stage.end; ++layer)
            work.kernels.push_back(at(layer).*kernels);
        work.kernel_runs =
            training_.sequences_of_a_pass() / static_cast<double>(block_.sequences) / gpus_;
        work.at_least = static_cast<double>(of_a_pass_) / gpus_ * pace_ * one;
        return work;
    }
    void compute(OperationKind kind, const Stage& stage, OperationId in, Operation work) {
        before_ = last_;
        last_ = build_.add(kind, stage.begin - 1, {{in}}, std::move(work));
    }

    void run_forward(const Stage& stage, std::int64_t pass) {
        const OperationId in = arrive(stage, false, stage.begin > 0 ? 1 : 0);
        if (pass == 0) first_uses_.push_back({in, stage});
        compute(OperationKind::forward, stage, in,
                work(stage, &Layer::forward, time(stage, &LayerTimes::forward)));
        written_ = build_.add(OperationKind::copy_checkpoint_out, stage.begin - 1, {{last_}},
                              copy_operation(hidden()));
    }
    void run_backward(const Stage& stage, std::int64_t pass) {
        // From the second pass on with the sums of gradients.
        const OperationId in = arrive(stage, pass > 0, is_fused(stage) ? 1 : 2);
        if (pass == 0 && is_fused(stage)) first_uses_.push_back({in, stage});
        Operation own_work = work(stage, &Layer::backward, time(stage, &LayerTimes::backward));
        own_work.uses = activations(stage);
        compute(OperationKind::backward, stage, in, std::move(own_work));
        written_ = build_.add(
            OperationKind::copy_gradients_out, stage.begin - 1, {{last_}},
            copy_operation(kBf16 * trained(stage) / gpus_ + (stage.begin > 0 ? hidden() : 0)));
    }

    /// The masters of a layer become its fp16 parameters.
    void update_parameters() {
        for (std::size_t layer = 0; layer < layers_.size(); ++layer)
            copied_.push_back(
                build_.add(OperationKind::copy_to_pinned, static_cast<int>(layer) - 1, {{written_}},
                           host_operation(HostWork::copy, kConversion * layers_[layer].trained)));
    }
    void optimize() {
        const double all = trained(whole());
        const bool delayed = update_ == Update::delayed;
        if (delayed) update_parameters();
        const OperationId collected =
            build_.add(OperationKind::collect_gradients, kEmbeddingLayer, {{written_}},
                       host_operation(HostWork::copy, kConversion * all));
        build_.add(OperationKind::update, kEmbeddingLayer, {{collected}},
                   host_operation(HostWork::eager_adam, kRoundPipeAdamTraffic * all));
        if (!delayed) update_parameters();
        for (const auto& [in, stage] : first_uses_)
            build_.wait(in, {copied_[static_cast<std::size_t>(stage.end - 1)], true});
    }

    void finish() {
        build_.assume(
            "one GPU's mean part of all stages is planned; the other GPUs' copies take no host "
            "memory's rate from it");
        build_.assume(
            "RoundPipe's Adam on fp32 masters moves host memory as fast as Adam on bf16 masters");
        const Bytes host = build_.host_peak();
        build_.host_moments({host, "plus the file's pages"}, {host}, {host}, {host});
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const Update update_ = training_.own.of<RoundPipeOptions>().update;
    const double gpus_;
    const std::int64_t of_a_pass_;  ///< micro-batches of all GPUs
    const TokenBlock block_;
    PlanBuilder build_;
    std::vector<Layer> layers_;
    RoundPipeStages stages_;
    double pace_ = 1;                      ///< see pipeline_pace
    OperationId before_ = -1, last_ = -1;  ///< the last two of the compute lane
    OperationId written_ = -1;             ///< the last copy to the host
    struct FirstUse {
        OperationId in;
        Stage stage;
    };
    std::vector<FirstUse> first_uses_;  ///< of weights in a step
    std::vector<OperationId> copied_;   ///< of each layer, to its fp16 parameters
};

std::vector<Phase> roundpipe_phases() {
    using At = StepMark::At;
    const StepMark start{At::earliest_start}, end{At::earliest_start, {}, true};
    const StepMark backward{At::first_start, OperationKind::backward};
    return {{"forward", start, backward}, {"backward", backward, end}};
}

}  // namespace

ScheduleRecord roundpipe_schedule() {
    return {
        .name = "roundpipe",
        .about =
            "The GPUs of a node take turns at the layers, whose states stay on the host; it "
            "serves several GPUs without a fast link.",
        .measured_system = "RoundPipe",
        .plan =
            [](const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
                check_one_host(machine, training.gpus);
                return RoundPipe(model, machine, training).plan();
            },
        .options = {"gpus", "passes", "adapter_rank", "adapter_targets", "adapter_dropout_percent"},
        .own_options = {choice_option<&RoundPipeOptions::update>(
                            {OptionGroup::system, "adam"}, "update",
                            {{"delayed", Update::delayed}, {"immediate", Update::immediate}},
                            "whether a step uses its update one step later, or at once"),
                        number_option<&RoundPipeOptions::busy_experts>(
                            {OptionGroup::system, "checkpoint_interval"}, "busy_experts", "", 0,
                            65'536, "experts of a layer that tokens reach",
                            "experts of a layer that tokens reach, evenly spread; an untrained "
                            "router may choose the same ones for every token")
                            .with_zero("all")
                            .varied_over({0, 4, 8, 16, 32})},
        .program = {.name = "RoundPipe",
                    .gpu_makers = {"NVIDIA", "AMD"},
                    .source = "github:thustorage/RoundPipe@e813c67",
                    .date = "2026-11-24"},
        .several_gpus = true,
        .gpus_take_turns = true,
        // train.py of its artifact.
        .users_run = {{"update", "delayed"}},
        .structural_error = kErrorOffloading,
        .phases = roundpipe_phases()};
}

}  // namespace sluice
