// Which kernels does a layer run in forward, in recomputation and in backward?
#pragma once

#include "sim/specs/model/adapter_shape.h"
#include "sim/specs/model/kernel.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// The sequences that pass a layer together: one micro-batch.
struct TokenBlock {
    std::int64_t sequences = 0;
    std::int64_t sequence = 0;            ///< tokens of one sequence
    std::int64_t feed_forward_chunk = 0;  ///< tokens that pass the feed-forward together; 0: all
    std::int64_t busy_experts = 0;        ///< that the tokens reach; 0: all
    /// Length of a mean token's document, within which attention stays; 0: the sequence.
    std::int64_t document_tokens = 0;
    std::int64_t tokens() const { return sequences * sequence; }
    bool in_chunks() const { return feed_forward_chunk > 0 && feed_forward_chunk < tokens(); }
};

/// How the work between the matrix products is done. `fused`: the trainer's kernels, each tensor
/// read once and written once. `eager`: a plain PyTorch module with one kernel per operation
/// (RMSNorm in fp32 takes six, rotary four). `plain`: as eager, but RMSNorm is one kernel
/// (torch.nn.RMSNorm). `modules`: as eager, and experts run one after another
/// (module_experts.h).
enum class KernelStyle : std::uint8_t { fused, eager, plain, modules };

/// The tensors of forward that are kept for backward.
enum class Recompute : std::uint8_t {
    full,            ///< only the layer's input is kept
    keep_attention,  ///< the input, the attention output and its softmax statistics
    none,            ///< everything that backward reads, except what an elementwise kernel restores
};

/// Operands of the layers' products. In FP8 they are cast before each product, one scale a tensor.
enum class Compute : std::uint8_t { bf16, fp8 };

/// How a pass in FP8 comes by the codes of its weights.
enum class WeightCodes : std::uint8_t {
    first,     ///< the first pass of a step finds their largest numbers
    again,     ///< these are known
    for_step,  ///< as `first`, in both orders, which are kept for the step
    kept,      ///< of an earlier pass
    arrive,    ///< from the host, in the order of rows; backward transposes them
    decoded,   ///< each product has bf16 made of another form, and casts it
};
constexpr WeightCodes after_first(WeightCodes codes) {
    if (codes == WeightCodes::first) return WeightCodes::again;
    return codes == WeightCodes::for_step ? WeightCodes::kept : codes;
}

/// In what form a layer's products read their operands.
struct ProductPrecision {
    Compute compute = Compute::bf16;
    WeightCodes weights = WeightCodes::again;
    std::int64_t gate_up_bits = 16;  ///< of each number of gate and up that backward reads
    double decoded_from = 0;         ///< bytes a weight, see WeightForm
};

/// With `adapters`, linear layers are frozen (adapters.h).
KernelList forward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                           KernelStyle style, const ProductPrecision& precision = {},
                           const AdapterShape& adapters = {});

/// Recomputation before backward: all of forward except the down projection, less what `recompute`
/// kept. With a feed-forward in chunks the normed input is restored twice, as backward keeps it no
/// longer than needed. With `none`, elementwise kernels still restore both normed inputs and, for
/// experts, the router's choice and their copies of the tokens. Backward itself restores the
/// activation's product.
KernelList recompute_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                             Recompute recompute, const ProductPrecision& precision = {},
                             const AdapterShape& adapters = {});

/// Forward once more, for the layer's output: less what `kept` left.
KernelList forward_again_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                                 Recompute kept, const ProductPrecision& precision = {},
                                 const AdapterShape& adapters = {});

/// Input and weight gradients of every product, attention backward, elementwise work. With
/// `sums_gradients`, weight gradients are added to sums in fp32. Adapters need more of what was
/// `computed_again` than of what forward has kept.
KernelList backward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                            KernelStyle style, bool sums_gradients = false,
                            const ProductPrecision& precision = {},
                            const AdapterShape& adapters = {}, bool computed_again = false);

/// Backward of the first layer with adapters, whose input needs no gradient: the embedding is
/// frozen.
KernelList first_backward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                                  KernelStyle style, const AdapterShape& adapters);

/// Final norm, logits in chunks of `chunk_tokens`, cross-entropy, and their backward. In FP8 (of
/// the gradients only) without the cast of the output projection, which all chunks share. A
/// `frozen` head has no gradient.
KernelList loss_kernels(const ModelSpec& model, TokenBlock block, std::int64_t chunk_tokens,
                        KernelStyle style, Compute gradients = Compute::bf16, bool frozen = false);

/// The same for a PyTorch model that computes all logits at once and their cross-entropy in fp32
/// (`logits.float()`): the kernels of forward and of backward.
KernelList whole_loss_forward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style);
KernelList whole_loss_backward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style,
                                       bool frozen = false);

/// Tokens of a chunk of Liger's fused loss: as many as make the logits no larger than the hidden
/// states of all tokens, to the next power of two (liger_kernel/ops/fused_linear_cross_entropy.py).
std::int64_t fused_loss_chunk(const ModelSpec& model, std::int64_t tokens);
/// Forward of that loss, which computes the gradients of hidden states and head, too. The final
/// norm's backward is all that is left.
KernelList fused_loss_forward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style,
                                      bool frozen = false);
KernelList fused_loss_backward_kernels(const ModelSpec& model, TokenBlock block, KernelStyle style);

}  // namespace sluice
