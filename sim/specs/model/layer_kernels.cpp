#include "sim/specs/model/layer_kernels.h"

#include "sim/specs/model/layer_kernel_builder.h"

namespace sluice {
namespace {

/// From attention's output to the input of the feed-forward.
void append_attention_residual(LayerKernels& k) {
    k.output_projection();
    if (k.layer().norm_after_halves()) k.norm("norm after attention");
    k.attention_residual();
    if (k.layer().norm_before_feed_forward()) k.norm("norm");
}

/// The part of forward up to the input of the feed-forward, which recomputation also runs.
void append_attention_forward(LayerKernels& k, bool with_attention) {
    if (k.layer().norm_before_attention()) k.norm("norm");
    k.projections();
    k.rotary();
    if (with_attention) k.add(attention_forward(k.attention()));
    append_attention_residual(k);
}

/// Forward, less what was kept.
KernelList forward_without(Recompute kept, LayerKernels k) {
    switch (kept) {
        case Recompute::full:
            append_attention_forward(k, true);
            break;
        case Recompute::keep_attention:
            append_attention_residual(k);
            break;
        case Recompute::none:
            if (k.layer().norm_before_attention()) k.norm("norm");
            break;
    }
    k.feed_forward(true);
    if (k.layer().norm_after_halves()) k.norm("norm after feed-forward");
    k.feed_forward_residual();
    return k.take();
}

/// From the gradient of the layer's output to those of q, k and v.
void append_backward_to_projections(LayerKernels& k) {
    if (k.layer().norm_after_halves()) k.norm_backward("norm backward");
    k.feed_forward_backward();
    if (k.layer().norm_before_feed_forward()) k.norm_backward("norm backward");
    if (k.layer().norm_after_halves()) k.norm_backward("norm backward");
    k.output_projection_backward();
    k.add(attention_backward(k.attention()));
    k.rotary_backward();
}

}  // namespace

KernelList forward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                           KernelStyle style, const ProductPrecision& precision,
                           const AdapterShape& adapters) {
    return forward_without(Recompute::full,
                           {model, layer, block, style, precision, false, adapters});
}

KernelList forward_again_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                                 Recompute kept, const ProductPrecision& precision,
                                 const AdapterShape& adapters) {
    return forward_without(kept,
                           {model, layer, block, KernelStyle::fused, precision, false, adapters});
}

KernelList recompute_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                             Recompute recompute, const ProductPrecision& precision,
                             const AdapterShape& adapters) {
    LayerKernels k(model, layer, block, KernelStyle::fused, precision, false, adapters);
    if (recompute == Recompute::none) {
        if (layer.norm_before_attention()) k.norm("norm");
        if (layer.norm_before_feed_forward()) k.norm("norm");
        k.restore_feed_forward();
        return k.take();
    }
    append_attention_forward(k, recompute == Recompute::full);
    if (block.in_chunks() && layer.norm_before_attention()) k.norm("norm");
    // A norm after the feed-forward needs its input in backward, so the down projection runs again.
    k.feed_forward(layer.norm_after_halves());
    return k.take();
}

KernelList backward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                            KernelStyle style, bool sums_gradients,
                            const ProductPrecision& precision, const AdapterShape& adapters,
                            bool computed_again) {
    LayerKernels k(model, layer, block, style, precision, sums_gradients, adapters, computed_again);
    append_backward_to_projections(k);
    k.projections_backward();
    if (layer.norm_before_attention()) k.norm_backward("norm backward");
    return k.take();
}

KernelList first_backward_kernels(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                                  KernelStyle style, const AdapterShape& adapters) {
    LayerKernels k(model, layer, block, style, {}, false, adapters);
    append_backward_to_projections(k);
    k.first_projections_backward();
    return k.take();
}

}  // namespace sluice
