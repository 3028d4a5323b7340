#include "sim/plan/schedules/streamed_memory.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t kDefaultHostSlabs = 4;
constexpr Bytes kCublasWorkspace = 32 * kMiB;  // what cuBLAS asks for on Hopper
constexpr Bytes kInputOutputBuffer = 64 * kMiB;

class Declaration {
  public:
    Declaration(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                PlanBuilder& build)
        : model_(model), machine_(machine), t_(training), build_(build) {
        for (const LayerSpec& kind : model.kinds)
            kinds_.push_back(activation_bytes_per_token(model, kind));
    }

    StreamedBuffers declare() {
        declare_host_state();
        declare_host_buffers();
        declare_device_slots();
        declare_inputs();
        declare_kept();
        declare_workspaces();
        declare_loss();
        return std::move(buffers_);
    }

  private:
    using Kind = MemoryKind;

    void on_host(const char* name, Kind kind, double bytes) {
        build_.standing(name, kind, Tier::host, bytes);
    }
    void on_device(const char* name, Kind kind, double bytes) {
        build_.standing(name, kind, Tier::device, bytes);
    }
    BufferId device_buffer(const char* name, Kind kind, double bytes) {
        return build_.buffer(name, kind, Tier::device, bytes);
    }

    bool host_checkpoints() const { return t_.checkpoints == CheckpointPlacement::host; }
    double tokens() const { return static_cast<double>(t_.tokens()); }
    double micro_tokens() const { return static_cast<double>(t_.micro_batch_block().tokens()); }
    double hidden_bytes() const { return static_cast<double>(model_.hidden) * kBf16; }
    double largest_layer() const { return static_cast<double>(largest_layer_parameters(model_)); }
    double feed_forward_tokens() const {
        const auto chunk = static_cast<double>(t_.feed_forward_chunk_tokens);
        return chunk == 0 ? micro_tokens() : std::min(micro_tokens(), chunk);
    }
    const ActivationBytes& activations(int layer) const {
        const int kind = model_.layers[static_cast<std::size_t>(layer)];
        return kinds_[static_cast<std::size_t>(kind)];
    }
    double kept_bytes(int layer) const {
        if (keeps_everything(model_, t_, layer)) return activations(layer).kept_for_backward;
        const bool attention = t_.recompute == Recompute::keep_attention;
        return attention ? activations(layer).attention_output : 0;
    }

    void declare_host_state() {
        const double all = static_cast<double>(total_parameters(model_));
        on_host("process", Kind::process, static_cast<double>(machine_.host.process_base));
        on_host("weights (high plane)", Kind::weights, kBf16 * all);
        on_host("master low plane and moments", Kind::optimizer_state,
                static_cast<double>(t_.state_bytes - kBf16) * all);
        if (t_.clipping == Clipping::exact) {
            on_host("gradients held for clipping", Kind::gradients, kBf16 * all);
        } else {
            on_host("pinned gradient slabs", Kind::pinned_buffers,
                    static_cast<double>(host_gradient_slabs(t_)) * largest_layer() * kBf16);
            on_host("pinned head gradient", Kind::pinned_buffers, table_bytes(model_));
        }
    }

    void declare_host_buffers() {
        on_host("pinned embedding rows in and out", Kind::pinned_buffers,
                2 * tokens() * hidden_bytes());
        on_host("embedding row gradients", Kind::gradients,
                embedding_rows_in_use(model_, t_) * static_cast<double>(model_.hidden) * kFp32);
        // Inputs and targets of this batch and the next, 4 bytes each.
        on_host("token ids", Kind::pinned_buffers, 2 * 2 * 4 * tokens());
        if (host_checkpoints()) {
            // Layer 0's input is the embedding rows, which are there already.
            on_host("checkpoints", Kind::checkpoints,
                    static_cast<double>(model_.layer_count() - 1) * tokens() * hidden_bytes());
        }
    }

    void declare_device_slots() {
        const std::int64_t layers = model_.layer_count();
        const auto of_layers = [&](std::int64_t count) {
            return static_cast<double>(std::min(count, layers)) * largest_layer() * kBf16;
        };
        on_device("weight slots", Kind::weights, of_layers(t_.buffer_depth));
        on_device("gradient slabs", Kind::gradients, of_layers(t_.gradient_slabs));
        if (sums_gradients(t_))
            on_device("gradient sums in fp32", Kind::gradients, largest_layer() * kFp32);
        on_device("cuBLAS workspace", Kind::workspace, kCublasWorkspace);
    }

    /// One buffer a layer on the device, or two in turn with copies on the host. The last hidden
    /// state is overwritten by its gradient, which travels back through the layers in place.
    void declare_inputs() {
        const double bytes = tokens() * hidden_bytes();
        std::vector<BufferId> ring;
        if (host_checkpoints()) {
            ring = {device_buffer("layer input, even", Kind::checkpoints, bytes),
                    device_buffer("layer input, odd", Kind::checkpoints, bytes)};
            on_device("checkpoints coming back", Kind::checkpoints,
                      2 * micro_tokens() * hidden_bytes());
        }
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            buffers_.inputs.push_back(host_checkpoints()
                                          ? ring[static_cast<std::size_t>(layer % 2)]
                                          : device_buffer("layer input", Kind::checkpoints, bytes));
        }
        buffers_.hidden_gradient =
            device_buffer("last hidden state, then the gradient", Kind::checkpoints, bytes);
    }

    void declare_kept() {
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            const double bytes = kept_bytes(layer) * tokens();
            buffers_.kept.push_back(
                bytes > 0 ? device_buffer("kept for backward", Kind::activations, bytes) : -1);
        }
    }

    void declare_workspaces() {
        double forward = 0, backward = 0;
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            const ActivationBytes& a = activations(layer);
            const double feed_forward = a.feed_forward * feed_forward_tokens();
            forward = std::max({forward, a.forward_attention * micro_tokens(),
                                a.residual * micro_tokens() + feed_forward});
            const double there = std::min(kept_bytes(layer), a.backward_attention);
            const double attention = a.backward_attention + a.attention_backward_sums - there;
            backward = std::max(backward, attention * micro_tokens() + feed_forward);
        }
        buffers_.forward_workspace = device_buffer("forward workspace", Kind::activations, forward);
        buffers_.backward_workspace =
            device_buffer("backward workspace", Kind::activations, backward);
    }

    void declare_loss() {
        const double chunk = std::min(static_cast<double>(t_.loss_chunk_tokens), micro_tokens());
        const bool sums = t_.micro_batches() > 1 || chunk < micro_tokens();
        buffers_.logits = device_buffer("logits of a chunk", Kind::loss,
                                        chunk * static_cast<double>(model_.vocabulary) * kBf16);
        buffers_.head_gradient = device_buffer("head gradient, summed in fp32", Kind::loss,
                                               sums ? 2 * table_bytes(model_) : 0);
        buffers_.head_weights =
            device_buffer("head weights, then their gradient", Kind::loss, table_bytes(model_));
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    PlanBuilder& build_;
    std::vector<ActivationBytes> kinds_;
    StreamedBuffers buffers_;
};

}  // namespace

double table_bytes(const ModelSpec& model) {
    return static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden) * kBf16;
}

double embedding_rows_in_use(const ModelSpec& model, const TrainingSpec& training) {
    return std::min(static_cast<double>(training.tokens()),
                    static_cast<double>(model.vocabulary + model.learned_positions));
}

std::int64_t host_gradient_slabs(const TrainingSpec& training) {
    return training.host_gradient_slabs == 0 ? kDefaultHostSlabs : training.host_gradient_slabs;
}

bool keeps_everything(const ModelSpec& model, const TrainingSpec& training, int layer) {
    return training.recompute == Recompute::none ||
           layer >= model.layer_count() - training.keep_last_layers;
}

bool sums_gradients(const TrainingSpec& training) {
    const std::int64_t chunk = training.feed_forward_chunk_tokens;
    const bool in_chunks = chunk > 0 && chunk < training.micro_batch_block().tokens();
    return training.micro_batches() > 1 || in_chunks;
}

StreamedBuffers declare_streamed_memory(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, PlanBuilder& build) {
    return Declaration(model, machine, training, build).declare();
}

void declare_streamed_host_moments(const ModelSpec& model, PlanBuilder& build) {
    const Bytes steady = build.host_peak();
    double largest_tensor = table_bytes(model);
    for (const LayerSpec& kind : model.kinds) {
        for (const ParameterTensor& tensor : layer_tensors(model, kind)) {
            largest_tensor =
                std::max(largest_tensor, static_cast<double>(tensor.rows * tensor.columns * kBf16));
        }
    }
    build.moment("loading", steady + static_cast<Bytes>(largest_tensor),
                 "one tensor being split into planes");
    build.moment("first step", steady, "nothing more: all buffers exist before it");
    build.moment("steady", steady, "");
    build.moment("saving", steady + kInputOutputBuffer,
                 "an output buffer; planes are written as they are");
    build.resident_between_steps(steady);
}

}  // namespace sluice
