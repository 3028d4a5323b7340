#include "sim/plan/schedules/streamed_buffers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/plan/arena_layout.h"
#include "sim/plan/fp8_sizes.h"
#include "sim/plan/schedules/copies_of_a_pass.h"
#include "sim/plan/schedules/streamed_kernels.h"
#include "sim/plan/sizes.h"
#include "sim/specs/model/adapters.h"
#include "sim/specs/model/attention_workspace.h"

namespace sluice {
namespace {

constexpr Bytes kSums = 256;
// Chosen, not measured: two halves of 32 MiB, one filled while the other is written.
constexpr Bytes kInputOutputBuffer = 64 * kMiB;

class StreamedDeclaration {
  public:
    StreamedDeclaration(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training, const Placement& placement,
                        PlanBuilder& build)
        : model_(model),
          machine_(machine),
          t_(training),
          homes_(placement),
          coded_(weight_form(placement.coded_form())),
          build_(build) {
        for (const LayerSpec& kind : model.kinds) {
            kinds_.push_back(activation_bytes_per_token(model, kind));
            parameters_.push_back(static_cast<double>(layer_parameters(model, kind)));
        }
    }

    StreamedBuffers declare() {
        build_.in_one_arena();
        declare_host_state();
        declare_host_buffers();
        declare_device_slots();
        declare_resident();
        declare_held_gradients();
        declare_adapters();
        declare_visits();
        declare_inputs();
        declare_kept();
        declare_workspaces();
        declare_loss();
        return std::move(buffers_);
    }

  private:
    using Kind = MemoryKind;
    StreamedBuffers::OnHost& host() { return buffers_.host; }
    const Home& home(int section, Plane plane) const { return homes_.home(section, plane); }
    template <typename Has>
    std::int64_t layers_with(Has has) const {
        std::int64_t count = 0;
        for (int layer = 0; layer < model_.layer_count(); ++layer) count += has(layer) ? 1 : 0;
        return count;
    }
    double parameters(int section) const {
        if (homes_.sections.is_layer(section)) return parameters_[kind_of(model_, section)];
        if (section == homes_.sections.head()) return static_cast<double>(head_parameters(model_));
        return section == homes_.sections.embedding()
                   ? static_cast<double>(embedding_parameters(model_))
                   : all_adapter_parameters(model_, t_.adapters());
    }
    double coded_bytes(int layer) const {
        return homes_.weights(layer).layer_bytes(model_, model_.layer(layer));
    }
    /// Weights, and states if it is trained.
    double bytes_at_home(int section) const {
        if (!homes_.has_bf16(section)) return coded_bytes(section);
        return (homes_.is_trained(section) ? state_bytes(t_) : double{kBf16}) * parameters(section);
    }
    double feed_forward_tokens() const {
        const auto chunk = static_cast<double>(t_.feed_forward_chunk_tokens);
        return chunk == 0 ? micro_batch_tokens(t_) : std::min(micro_batch_tokens(t_), chunk);
    }
    std::int64_t copied_at_once() const {
        return CopiesOfAPass(t_.micro_batches_of_a_pass()).largest();
    }
    const ActivationBytes& activations(int layer) const { return kinds_[kind_of(model_, layer)]; }
    void declare_host_state() {
        constexpr std::int64_t kPlaces = 3;  // one is read, one used, one written
        const double states = state_bytes(t_) - kBf16;
        double resident = 0, visiting = 0, codes = 0, projected = 0, on_host = 0, trained = 0;
        std::vector<double> stored;
        for (int section = 0; section < homes_.sections.count(); ++section) {
            const Home& home = this->home(section, Plane::states);
            stored.push_back(home.on_storage() ? states * parameters(section) : 0);
            if (homes_.is_visiting(section))
                visiting += parameters(section);
            else if (home.on_host())
                trained += parameters(section);
            if (homes_.is_resident(section))
                resident += parameters(section);
            else if (homes_.has_bf16(section))
                on_host += parameters(section);
            if (homes_.arrives_as_codes(section)) codes += coded_bytes(section);
        }
        const int embedding = homes_.sections.embedding(), sections = homes_.sections.count();
        if (!model_.tied_embeddings && !homes_.is_resident(embedding))
            projected = parameters(embedding);
        build_.on_host("process", Kind::process, static_cast<double>(machine_.host.process_base));
        host().weights = build_.pinned("weights in bf16", Kind::weights,
                                       kBf16 * (on_host - projected), sections);
        host().embedding = build_.on_host("embedding in bf16", Kind::weights, kBf16 * projected);
        host().states = build_.on_host("rest of the masters, and moments", Kind::optimizer_state,
                                       states * trained, sections);
        host().stored_states =
            build_.on_storage("rest of the masters, and moments, on the disk",
                              "rest of the masters, and moments, on the disk, in use",
                              Kind::optimizer_state, stored, kPlaces);
        host().visiting_states =
            build_.pinned("rest of the masters, and moments, that visit the device",
                          Kind::optimizer_state, states * visiting, sections);
        host().codes = build_.pinned(coded_.weights, Kind::weights, codes, sections);
        host().staging = build_.pinned("pieces of resident sections", Kind::pinned_buffers,
                                       resident > 0 ? kStaging : 0);
        declare_host_gradients();
    }

    /// The head has an output projection even where it is tied.
    void declare_host_gradients() {
        const int head_section = homes_.sections.head();
        const double head = home(head_section, Plane::gradient).on_host()
                                ? table_bytes(model_) + hidden_bytes(model_)
                                : 0;
        std::int64_t places = 0;
        for (int layer = 0; layer < model_.layer_count(); ++layer)
            if (home(layer, Plane::gradient).on_host())
                places =
                    std::max<std::int64_t>(places, home(layer, Plane::gradient).host_place + 1);
        const double layers = static_cast<double>(places) * largest_layer_bytes(model_);
        const bool held = homes_.update(head_section).after_norm;
        const Kind kind = held ? Kind::gradients : Kind::pinned_buffers;
        host().gradients = build_.pinned(
            held ? "gradients held for clipping" : "pinned places of waiting gradients", kind,
            layers, places);
        host().head_gradient = build_.pinned(
            held ? "head gradient held for clipping" : "pinned head gradient", kind, head);
    }

    double document_bytes() const { return static_cast<double>(document_begins_bytes(t_)); }

    void declare_host_buffers() {
        constexpr auto kPinned = Kind::pinned_buffers;
        const double batch = homes_.activation_scale() * input_bytes(model_, t_);
        if (homes_.is_resident(homes_.sections.embedding())) {
            host().token_index =
                build_.pinned("pinned token index", kPinned, token_index_bytes(model_, t_));
        } else {
            const bool trained = homes_.is_trained(homes_.sections.embedding());
            const std::int64_t ways = trained ? 2 : 1;
            host().rows = build_.pinned(
                trained ? "pinned embedding rows in and out" : "pinned embedding rows", kPinned,
                static_cast<double>(ways) * batch, ways);
            host().row_sums = build_.on_host(
                "embedding row gradients", Kind::gradients,
                trained
                    ? embedding_rows_in_use(model_, t_) * static_cast<double>(model_.hidden) * kFp32
                    : 0);
        }
        // Inputs and targets of this batch and the next, 4 bytes each.
        host().token_ids = build_.pinned("token ids", kPinned, 2 * 2 * 4 * tokens(t_));
        if (t_.within_documents())
            host().documents = build_.pinned("documents", kPinned, document_bytes());
        host().sums = build_.pinned("loss and norm with gradients", kPinned,
                                    static_cast<double>(homes_.sections.count() * kStepSums +
                                                        (has_experts(model_) ? kBusiest : 0)));
        const auto inputs = layers_with([&](int layer) { return homes_.input_leaves(layer); });
        host().checkpoints = build_.pinned("checkpoints", Kind::checkpoints,
                                           static_cast<double>(inputs) * batch, inputs);
    }

    void declare_device_slots() {
        const std::int64_t slabs = std::min(
            t_.gradient_slabs, layers_with([&](int layer) { return homes_.is_trained(layer); }));
        declare_weight_slots();
        buffers_.gradient_slabs =
            build_.on_device("places of waiting gradients", Kind::gradients,
                             static_cast<double>(slabs) * largest_layer_bytes(model_));
        declare_gradient_sums();
        buffers_.kernel_workspace =
            build_.on_device("kernel workspace", Kind::workspace, kKernelWorkspace);
        if (t_.computes_in_fp8())
            buffers_.fp8_operands = build_.on_device("operands of products in FP8", Kind::workspace,
                                                     fp8_operand_bytes(model_, t_));
        declare_fp8_weights();
        buffers_.decoded_weights = build_.on_device("weights decoded to bf16", Kind::workspace,
                                                    decoded_bytes(model_, coded_.form));
        buffers_.targets = build_.on_device("targets", Kind::workspace, 4 * tokens(t_));
        if (t_.within_documents())
            buffers_.documents = build_.on_device("documents", Kind::workspace, document_bytes());
        buffers_.sums = build_.on_device("loss and norm", Kind::workspace, kSums);
    }

    /// As many as layers arrive in turn, each for the largest.
    void declare_weight_slots() {
        double largest = 0;
        for (const LayerSpec& kind : model_.kinds)
            largest = std::max(largest, coded_.layer_bytes(model_, kind));
        const std::int64_t arrive =
            layers_with([&](int layer) { return home(layer, Plane::weights).on_host(); });
        buffers_.weight_slots =
            build_.on_device("weight slots", Kind::weights,
                             static_cast<double>(std::min(t_.buffer_depth, arrive)) * largest);
    }

    void declare_fp8_weights() {
        // Layers of a kind need the same: asking for each took a tenth of a choice in FP8.
        std::map<std::tuple<const LayerSpec*, bool, bool>, double> known;
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            const auto [entry, is_new] = known.try_emplace(
                {&model_.layer(layer), homes_.is_coded(layer), home(layer, Plane::codes).exists()});
            if (is_new) entry->second = fp8_weight_bytes(model_, t_, homes_, layer);
            buffers_.fp8_weights.push_back(
                build_.on_device("weights in FP8", Kind::weights, entry->second));
        }
    }

    void declare_gradient_sums() {
        const auto sums = [&](double bf16_bytes) {
            return build_.on_device("gradient sums in fp32", Kind::gradients, 2 * bf16_bytes);
        };
        const bool trained = homes_.is_trained(homes_.sections.head());
        const BufferId of_any = trained && sums_gradients(t_) && t_.passes == 1
                                    ? sums(largest_layer_bytes(model_))
                                    : kNoBuffer;
        for (int layer = 0; layer < model_.layer_count(); ++layer)
            buffers_.gradient_sums.push_back(
                t_.passes == 1 || !trained ? of_any : sums(kBf16 * parameters(layer)));
    }

    void declare_resident() {
        const int head = homes_.sections.head();
        for (int section = 0; section < homes_.sections.count(); ++section) {
            const char* const name = section < head    ? "resident layers, weights and states"
                                     : section == head ? "resident head, weights and states"
                                     : section == homes_.sections.embedding()
                                         ? "resident embedding, weights and states"
                                         : "adapters, weights and states";
            const bool trained = homes_.is_trained(section);
            buffers_.resident.push_back(
                homes_.is_resident(section)
                    ? build_.on_device(trained ? name : "frozen weights",
                                       trained ? Kind::optimizer_state : Kind::weights,
                                       bytes_at_home(section))
                    : kNoBuffer);
        }
        const int embedding = homes_.sections.embedding();
        if (!homes_.is_resident(embedding)) return;
        buffers_.token_index =
            build_.on_device("token index", Kind::workspace, token_index_bytes(model_, t_));
        if (!homes_.is_trained(embedding)) return;
        buffers_.row_gradients = build_.device_buffer("embedding's gradient, summed in fp32",
                                                      Kind::gradients, 2 * embedding_bytes(model_));
    }

    void declare_held_gradients() {
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            const Home& gradient = home(layer, Plane::gradient);
            buffers_.held_gradients.push_back(
                gradient.on_device() && gradient.device_places == 0
                    ? build_.device_buffer("gradients held for clipping", Kind::gradients,
                                           kBf16 * parameters(layer))
                    : kNoBuffer);
        }
    }

    void declare_adapters() {
        if (!homes_.sections.adapted) return;
        const double elements = parameters(homes_.sections.adapters());
        buffers_.adapter_gradient =
            build_.on_device("gradient of adapters", Kind::gradients, kBf16 * elements);
        buffers_.adapter_sums =
            build_.on_device("gradient sums of adapters in fp32", Kind::gradients,
                             sums_gradients(t_) ? kFp32 * elements : 0);
    }

    void declare_visits() {
        const Visits& visits = homes_.visits;
        for (const std::optional<int>& first : visits.first_kept)
            buffers_.visits.push_back(
                first ? build_.on_device("kept for backward, in turn with visiting states",
                                         Kind::activations, visits.bytes_with_kept,
                                         visits.layers * t_.micro_batches_of_a_pass())
                      : build_.on_device("visiting states", Kind::optimizer_state,
                                         visits.bytes_of_states));
    }

    /// One buffer a layer on the device, or two in turn with copies on the host; one for all that
    /// are computed again. The last hidden
    /// state is overwritten by its gradient, which travels back through the layers in place.
    void declare_inputs() {
        const double bytes = homes_.activation_scale() * input_bytes(model_, t_);
        const auto passes = static_cast<double>(t_.passes);
        std::vector<BufferId> ring;
        if (host_checkpoints(t_)) {
            ring = {build_.device_buffer("layer input, even", Kind::checkpoints, bytes),
                    build_.device_buffer("layer input, odd", Kind::checkpoints, bytes)};
            if (!t_.saves_half())
                buffers_.coming_back = build_.on_device(
                    "checkpoints coming back", Kind::checkpoints,
                    2 * homes_.activation_scale() * static_cast<double>(copied_at_once()) *
                        micro_batch_tokens(t_) * hidden_bytes(model_));
        }
        const BufferId computed =
            t_.saves_half() && ring.empty()
                ? build_.device_buffer("layer input, computed again", Kind::checkpoints, bytes)
                : kNoBuffer;
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            if (!ring.empty())
                buffers_.inputs.push_back(ring[static_cast<std::size_t>(layer % 2)]);
            else
                buffers_.inputs.push_back(
                    home(layer, Plane::input).exists()
                        ? build_.device_buffer("layer input", Kind::checkpoints,
                                               layer == 0 ? bytes : bytes / passes)
                        : computed);
        }
        buffers_.hidden_gradient =
            build_.device_buffer("last hidden state, then the gradient", Kind::checkpoints, bytes);
    }

    void declare_kept() {
        const std::int64_t parts = t_.micro_batches_of_a_pass();
        const auto room = static_cast<double>(parts * (kRoomForParts + kArenaAlignment));
        double largest_leaving = 0, leaving = 0;
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            const bool leaves = homes_.keeps_on_host(layer);
            const double bytes = homes_.activation_scale() *
                                 kept_bytes(model_, homes_, layer).all() * tokens(t_) /
                                 static_cast<double>(t_.passes);
            if (leaves) largest_leaving = std::max(largest_leaving, bytes), leaving += bytes + room;
            BufferId& there = buffers_.kept.emplace_back(kNoBuffer);
            if (const auto place = homes_.kept_beside_visit(layer))
                there = buffers_.visits[static_cast<std::size_t>(place->visit)];
            else if (bytes > 0 && !leaves)
                there = build_.device_buffer("kept for backward", Kind::activations, bytes, parts);
        }
        if (largest_leaving == 0) return;
        host().kept = build_.pinned("kept for backward", Kind::activations, leaving);
        const std::int64_t copied = copied_at_once();
        for (BufferId& one : buffers_.kept_in_turn)
            one = build_.device_buffer(
                "kept for backward, in turn", Kind::activations,
                largest_leaving / static_cast<double>(parts) * static_cast<double>(copied), copied);
    }

    /// The feed-forward's tensors are gone when the attention half's gradients come. With a
    /// feed-forward in chunks the normed input is gone before both.
    double backward_bytes(int layer) const {
        const ActivationBytes& a = activations(layer);
        const KeptBytes there = kept_bytes(model_, homes_, layer);
        const AttentionSpec& of = model_.layer(layer).attention;
        const TokenBlock block = t_.micro_batch_block();
        const AttentionBatch attention{block.sequences, block.sequence, of.heads,
                                       of.kv_heads,     of.head_dim,    t_.within_documents()};
        const double all = micro_batch_tokens(t_),
                     gradients =
                         a.attention_gradients - (attention_in_parts(attention) ? a.qkv : 0),
                     normed = block.in_chunks() ? a.input * all : 0;
        const Bytes workspace = attention_workspace_bytes(attention);
        return (a.backward_attention - there.attention) * all - normed +
               std::max({normed, gradients * all + static_cast<double>(workspace),
                         (a.backward_feed_forward - there.in_place) * feed_forward_tokens()});
    }

    /// Gradients of all gates and ups of experts, before these are added to their sums.
    double rounded_bytes(int layer) const {
        const FeedForwardSpec& f = model_.layer(layer).feed_forward;
        if (f.experts == 0 || !sums_gradients(t_)) return 0;
        return hidden_bytes(model_) * static_cast<double>(f.experts * f.projections()) *
               static_cast<double>(f.intermediate) / homes_.activation_scale();
    }

    void declare_workspaces() {
        double forward = 0, backward = 0;
        for (int layer = 0; layer < model_.layer_count(); ++layer) {
            const ActivationBytes& a = activations(layer);
            forward = std::max({forward, a.forward_attention * micro_batch_tokens(t_),
                                a.residual * micro_batch_tokens(t_) +
                                    a.forward_feed_forward * feed_forward_tokens()});
            backward = std::max(backward, backward_bytes(layer) + rounded_bytes(layer));
        }
        // Layers compute inputs again in the memory of backward.
        if (t_.saves_half()) backward = std::max(backward, forward);
        const double scale = homes_.activation_scale();
        // scale x A^T of q, k and v, and its gradient; backward holds the former of all modules.
        constexpr int kTensors = 2;
        const double of_module =
            micro_batch_tokens(t_) * kBf16 * static_cast<double>(t_.adapter_rank);
        std::int64_t modules = 0;
        for (const LayerSpec& kind : model_.kinds)
            modules = std::max(modules, adapted_modules(kind, t_.adapters()));
        if (t_.adapters().dropout_percent > 0) {  // what the adapters of a product read
            std::int64_t widest = 0;
            for (const LayerSpec& kind : model_.kinds)
                for (const ParameterTensor& tensor : layer_tensors(model_, kind))
                    if (tensor.columns > 1) widest = std::max(widest, tensor.columns);
            const double input = micro_batch_tokens(t_) * kBf16 * static_cast<double>(widest);
            forward += input, backward += input;
        }
        forward += of_module * kTensors * kMostModules;
        backward += of_module * static_cast<double>(kTensors * kMostModules + modules);
        buffers_.forward_workspace =
            build_.device_buffer("forward workspace", Kind::activations, scale * forward);
        buffers_.backward_workspace =
            build_.device_buffer("backward workspace", Kind::activations, scale * backward);
    }

    void declare_loss() {
        const double chunk =
            std::min(static_cast<double>(t_.loss_chunk_tokens), micro_batch_tokens(t_));
        buffers_.logits = build_.device_buffer(
            "logits of a chunk, and its hidden state", Kind::loss,
            homes_.activation_scale() * (chunk * static_cast<double>(model_.vocabulary) * kBf16 +
                                         chunk * hidden_bytes(model_)));
        const int head = homes_.sections.head();
        const double bytes = table_bytes(model_) + hidden_bytes(model_);
        const bool trained = homes_.is_trained(head);
        if (trained)
            buffers_.head_gradient =
                build_.device_buffer("head gradient, summed in fp32", Kind::loss, 2 * bytes);
        if (trained || !homes_.is_resident(head))
            buffers_.head_weights = build_.device_buffer(
                trained ? "head weights, then their gradient" : "head weights", Kind::loss, bytes);
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const Placement& homes_;
    const WeightForm& coded_;  ///< of all layers that are on the host
    PlanBuilder& build_;
    std::vector<ActivationBytes> kinds_;
    std::vector<double> parameters_;  ///< of a layer of each kind
    StreamedBuffers buffers_;
};

}  // namespace

StreamedBuffers declare_streamed_memory(const ModelSpec& model, const MachineSpec& machine,
                                        const TrainingSpec& training, const Placement& placement,
                                        PlanBuilder& build) {
    return StreamedDeclaration(model, machine, training, placement, build).declare();
}

void declare_streamed_host_moments(const ModelSpec& model, const Placement& placement,
                                   PlanBuilder& build) {
    const Bytes steady = build.host_peak();
    const WeightForm& form = weight_form(placement.coded_form());
    const bool codes_alone = placement.sections.adapted && form.form != Form::bf16;
    double largest_tensor = table_bytes(model), coded = 0;
    for (const LayerSpec& kind : model.kinds) {
        for (const ParameterTensor& tensor : layer_tensors(model, kind)) {
            largest_tensor =
                std::max(largest_tensor, static_cast<double>(tensor.rows * tensor.columns * kBf16));
        }
        if (codes_alone) coded = std::max(coded, form.layer_bytes(model, kind));
    }
    const double layer = coded > 0 ? largest_layer_bytes(model) + coded : 0;
    build.host_moments(
        {steady + static_cast<Bytes>(largest_tensor + layer),
         coded > 0 ? "one tensor being split into planes, and one layer being coded"
                   : "one tensor being split into planes"},
        {steady, "nothing more: all buffers exist before it"}, {steady},
        {steady + kInputOutputBuffer, "an output buffer; planes are written as they are"});
}

}  // namespace sluice
