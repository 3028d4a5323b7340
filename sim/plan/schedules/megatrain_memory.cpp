#include "sim/plan/schedules/megatrain_memory.h"

#include <algorithm>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

constexpr std::int64_t kDefaultSlabs = 12;
// Host memory of PyTorch's eager kernels, transformers and DeepSpeed, beyond libtorch: estimated.
constexpr double kPythonModules = 0.65e9;
// glibc returns larger blocks to the system and keeps smaller ones.
constexpr double kLargestHeapBlock = 32.0 * kMiB;

/// All pieces' log-softmax outputs, and at the start of their backward: the last piece's logits (a
/// variable still refers to them), the gradients of nll and of log-softmax. The final norm ran
/// twice under autograd: the run in forward keeps the normed state before and after its weight, the
/// run for the loss also the fp32 input. The pieces of the hidden state are contiguous copies. From
/// the second piece on the head's gradient exists, and while one more is added, both and their sum.
/// Published device memory of 20 runs, with tables of 0.27 to 1.56 GB, is one table more than with
/// a sum in place (validation/published).
///
/// flash-attn's cross-entropy (with inplace_backward, as there) saves the logits themselves, writes
/// their gradients over them, and needs no further tensor of a piece. The largest addition is then
/// the hidden state's gradient: a slice's backward fills one of the whole state with zeros, and
/// from the second piece on two are added.
void declare_loss(const ModelSpec& model, const TrainingSpec& training, PlanBuilder& build,
                  MegaTrainBuffers& buffers) {
    const double vocabulary_bytes = static_cast<double>(model.vocabulary * kBf16);
    const double piece =
        static_cast<double>(training.batch * std::min(kMegaTrainLossPositions, training.sequence)) *
        vocabulary_bytes;
    const double positions =
        static_cast<double>(training.sequence - 1) / static_cast<double>(training.sequence);
    const double outputs = tokens(training) * positions * vocabulary_bytes;
    const bool one_piece = training.sequence <= kMegaTrainLossPositions;
    const double table = table_bytes(model), input = input_bytes(model, training);
    const double tables_added = one_piece ? table : 3 * table;
    const double others =
        training.own.of<MegaTrainOptions>().flash_loss
            ? std::max(input + table, (one_piece ? 1 : 2) * input + tables_added - piece)
            : std::max({3 * piece, 2 * piece + table, tables_added});
    buffers.loss_logits =
        build.device_buffer("logits of all pieces", MemoryKind::loss, outputs + others);
    buffers.loss_norms =
        build.device_buffer("final norm under autograd, twice", MemoryKind::loss, 7 * input);
}

double width_bytes(const ModelSpec& model) {
    double width = 0;
    for (const LayerSpec& kind : model.kinds)
        width = std::max(width, kBf16 * width_of_token(kind.feed_forward));
    return width;
}

/// A tensor as transformers keeps it, or each expert's: `count` tensors of that many bytes each.
struct HfTensor {
    double bytes;
    std::int64_t count;
};

/// The layer's matrices; q, k, v, o, gate, up and down are separate.
std::vector<HfTensor> hf_tensors(const ModelSpec& model, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const FeedForwardSpec& f = layer.feed_forward;
    const auto of_rows = [&](std::int64_t rows) {
        return static_cast<double>(rows) * hidden_bytes(model);
    };
    const std::int64_t of_block = f.projections() + 1;
    std::vector<HfTensor> out = {
        {of_rows(a.query_width()), 1},
        {of_rows(a.key_width()), 2},
        {of_rows(a.output_width()), 1},
        {of_rows(f.intermediate), of_block * std::max<std::int64_t>(f.experts, 1)}};
    if (f.shared_intermediate > 0) out.push_back({of_rows(f.shared_intermediate), of_block});
    return out;
}

/// Released gradients under 32 MiB stay in the process's heap: measured, 0.45 GB of 5.6 after a
/// release of 12 layers.
double gradients_kept_by_malloc(const ModelSpec& model) {
    double kept = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        for (const HfTensor& tensor : hf_tensors(model, model.layer(layer))) {
            if (tensor.bytes < kLargestHeapBlock)
                kept += tensor.bytes * static_cast<double>(tensor.count);
        }
    }
    return kept;
}

}  // namespace

BufferId declare_megatrain_memory(const ModelSpec& model, const MachineSpec& machine,
                                  const TrainingSpec& training, PlanBuilder& build) {
    const double all = all_parameters(model);
    const double largest = pinned_bytes(largest_layer_bytes(model));
    build.on_host("process", MemoryKind::process, static_cast<double>(machine.host.process_base));
    build.on_host("bf16 masters", MemoryKind::weights, kBf16 * all);
    build.on_host("fp32 moments", MemoryKind::optimizer_state, 2 * kFp32 * all);
    double flats = 0;
    for (int layer = 0; layer < model.layer_count(); ++layer)
        flats += pinned_bytes(kBf16 * parameters_of_layer(model, layer));
    const int slots = megatrain_slots(training);
    if (fork_of(training) == Fork::none)
        build.on_host("pinned flat weights", MemoryKind::pinned_buffers, flats);
    build.on_host("pinned staging", MemoryKind::pinned_buffers, slots * largest);
    build.on_host("pinned places of waiting gradients", MemoryKind::pinned_buffers,
                  static_cast<double>(megatrain_slabs(training)) * largest +
                      pinned_bytes(head_bytes(model)) + pinned_bytes(embedding_bytes(model)));
    build.on_host("Python modules", MemoryKind::process, kPythonModules);
    const BufferId gradients =
        build.buffer("gradients", MemoryKind::gradients, Tier::host, kBf16 * all);

    double templates = 0;
    for (const LayerSpec& kind : model.kinds)
        templates += kMegaTrainBuffers * kBf16 * static_cast<double>(layer_parameters(model, kind));
    build.on_device("weight buffers", MemoryKind::weights, slots * largest_layer_bytes(model));
    if (fork_of(training) != Fork::views)
        build.on_device("layer templates", MemoryKind::weights, templates);
    build.on_device("embedding and head", MemoryKind::weights,
                    embedding_bytes(model) + head_bytes(model));
    return gradients;
}

MegaTrainBuffers declare_megatrain_pass(const ModelSpec& model, const TrainingSpec& training,
                                        PlanBuilder& build) {
    MegaTrainBuffers buffers;
    const std::int64_t layers = model.layer_count();
    const double input = input_bytes(model, training);
    for (std::int64_t layer = 0; layer < layers; layer += megatrain_interval(training))
        buffers.checkpoints.push_back(
            build.device_buffer("layer input", MemoryKind::checkpoints, input));
    buffers.hidden =
        build.device_buffer("hidden state, then its gradient", MemoryKind::checkpoints, input);
    buffers.recomputed = build.device_buffer(
        "restored inputs of a block", MemoryKind::activations,
        static_cast<double>(std::min(megatrain_interval(training), layers)) * input);
    if (model.tied_embeddings)
        buffers.table_gradient =
            build.device_buffer("tied table's gradient", MemoryKind::gradients, table_bytes(model));
    buffers.embedding_gradient = build.device_buffer("embedding gradient", MemoryKind::gradients,
                                                     embedding_bytes(model) + input);
    declare_loss(model, training, build, buffers);
    return buffers;
}

double megatrain_forward_temporaries(const ModelSpec& model) {
    // Without gradients: input, residual, normed input, and gate, up and their product together.
    return 3 * hidden_bytes(model) + 3 * width_bytes(model);
}

double megatrain_backward_temporaries(const ModelSpec& model) {
    // Autograd keeps, per layer: both norms' fp32 inputs (2 x 2) and bf16 outputs before the weight
    // (2), the inputs of qkv and of gate and up (2), q, k, v, attention output and its contiguous
    // copy (about 4), gate, its SiLU, up and their product (4 widths). Backward adds the gradients
    // of product, SiLU and gate (3 widths) and of the input (2).
    return megatrain_saved(model) + 2 * hidden_bytes(model) + 3 * width_bytes(model);
}

double megatrain_saved(const ModelSpec& model) {
    return 12 * hidden_bytes(model) + 4 * width_bytes(model);
}

void declare_megatrain_host_moments(const ModelSpec& model, PlanBuilder& build) {
    const Bytes in_step = build.host_peak();
    const auto released =
        static_cast<Bytes>(kBf16 * all_parameters(model) - gradients_kept_by_malloc(model));
    const Bytes between = in_step - released;
    const auto states = static_cast<Bytes>(2 * kFp32 * all_parameters(model));
    build.host_moments({between - states,
                        "masters and pinned flats; plus the file's pages, if they are not dropped"},
                       {in_step, "moments appear at the first update"},
                       {in_step, "gradients included; they are released after each step"},
                       {between, "masters are written as they are"}, between);
}

std::int64_t megatrain_slabs(const TrainingSpec& training) {
    return training.host_gradient_slabs == 0 ? kDefaultSlabs : training.host_gradient_slabs;
}

}  // namespace sluice
