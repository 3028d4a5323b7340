#include "engine/layers/transformer_layer.h"

#include <algorithm>

#include "engine/kernels/attention_batch.h"
#include "engine/layers/linear.h"

namespace sluice {
namespace {

using Of = LayerLayout;
RotaryShape rotary_shape(const RotarySpec& r) {
    return {r.theta, r.factor, r.low_frequency_factor, r.high_frequency_factor,
            r.original_positions};
}

}  // namespace

/// One pass over the layer. Without memory for operands products are in bf16.
struct TransformerLayer::Pass {
    Pass(Kernels& kernels_, const LayerLayout& layout_, LayerWeights given, Workspace memory,
         const LayerAdapters& adapters_, Workspace memory_of_adapters_)
        : kernels(kernels_),
          layout(layout_),
          weights(given),
          operands(memory),
          adapters(adapters_),
          memory_of_adapters(memory_of_adapters_) {
        const LayerForm& form = layer_form(given.form);
        Operand* const taken[] = {&qkv, &output, &gate_up, &down};
        for (std::size_t i = 0; i < std::size(kCodedMatrices); ++i)
            *taken[i] = form.matrix(given, layout.*kCodedMatrices[i], i);
        if (!operands.present()) return;
        for (Fp8Scale** const scale : {&attention_input, &feed_forward_input, &product})
            *scale = static_cast<Fp8Scale*>(operands.take(sizeof(Fp8Scale)));
    }
    Kernels& kernels;
    const LayerLayout& layout;  ///< of the weights
    LayerWeights weights;
    Workspace operands;
    LayerAdapters adapters;
    Workspace memory_of_adapters;
    Operand qkv, output, gate_up, down;
    /// Scales of tensors, found where these are written; null without FP8.
    Fp8Scale *attention_input = nullptr, *feed_forward_input = nullptr, *product = nullptr;
    Vector vector(TensorPlace Of::*of) const { return weights.vector(layout.*of); }
    /// The pass for tokens after the first ones, which have cast the weights or found their scales.
    Pass for_later_tokens() const {
        Pass later = *this;
        for (Operand* const weight : {&later.qkv, &later.output, &later.gate_up, &later.down})
            weight->measured = true, weight->casts_first = false;
        return later;
    }
    /// `input`: where backward finds what A makes of x, or absent.
    ProductAdapters adapters_of(const AdaptedMatrix& matrix, const Matrix& input,
                                std::int64_t first_row = 0) const {
        if (!adapters.present()) return {};
        return {adapters, adapters.layout->*matrix.places, memory_of_adapters, input, first_row};
    }
    /// y = x W^T.
    void linear(Matrix y, Operand x, const Operand& weight, const ProductAdapters& adapted,
                Matrix addend = {}, Vector bias = {}) const {
        sluice::linear(kernels, operands, {y, x, weight, addend, bias, adapted});
    }
    /// The product whose y has the gradient dy.
    LinearBackward backward_of(Workspace memory, const Operand& dy,
                               const ProductAdapters& adapted) const {
        return {kernels, memory, dy, adapted, adapters.present()};
    }
};

TransformerLayer::TransformerLayer(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                                   DType activations)
    : block_(block),
      type_(activations),
      hidden_(model.hidden),
      intermediate_(layer.feed_forward.intermediate),
      epsilon_(static_cast<float>(model.norm_epsilon)),
      head_norm_(layer.attention.qk_norm),
      attention_{block.sequences,          block.sequence,           layer.attention.heads,
                 layer.attention.kv_heads, layer.attention.head_dim, layer.attention.window},
      rotary_(rotary_shape(model.rotary)),
      layout_(layer_layout(model, layer)),
      experts_(layer.feed_forward, layout_, activations) {
    for (const WeightForm& form : weight_forms())
        layouts_.push_back(layer_form(form.form).layout(layout_));
    if (block_.feed_forward_chunk == 0) block_.feed_forward_chunk = block_.tokens();
}

Matrix TransformerLayer::hidden_matrix(Workspace& workspace, std::int64_t rows) const {
    return workspace.matrix(type_, rows, hidden_);
}

AdaptedInputs TransformerLayer::take_inputs(const AdapterLayout& adapters,
                                            Workspace& memory) const {
    const auto take = [&](const MatrixAdapters& of) {
        return take_adapted(memory, of, block_.tokens(), type_);
    };
    AdaptedInputs out;
    out.qkv = take(adapters.qkv), out.output = take(adapters.output);
    out.gate_up = take(adapters.gate_up), out.down = take(adapters.down);
    return out;
}

LayerActivations TransformerLayer::keep(Recompute recompute, Workspace& memory, std::int64_t bits,
                                        const AdapterLayout* adapters) const {
    LayerActivations kept;
    if (recompute == Recompute::full) return kept;
    const std::int64_t tokens = block_.tokens();
    kept.attention_output = memory.matrix(type_, tokens, attention_.query_width());
    kept.statistics =
        static_cast<float*>(memory.take(attention_.heads * tokens * bytes_of(DType::fp32)));
    if (recompute == Recompute::keep_attention) return kept;
    kept.qkv = memory.matrix(type_, tokens, attention_.qkv_width());
    if (head_norm_)
        kept.unnormed =
            memory.matrix(type_, tokens, attention_.query_width() + attention_.key_width());
    kept.residual = hidden_matrix(memory, tokens);
    if (adapters != nullptr) kept.adapted = take_inputs(*adapters, memory);
    const std::int64_t copies = tokens * copies_of_token();
    if (bits == 16) {
        kept.gate_up = memory.matrix(type_, copies, 2 * intermediate_);
        return kept;
    }
    EightBits& codes = kept.gate_up_codes;
    codes.width = intermediate_;
    codes.codes = static_cast<std::int8_t*>(memory.take(copies * 2 * codes.width));
    codes.largest = static_cast<std::uint16_t*>(memory.take(copies * 2 * codes.groups() * kBf16));
    return kept;
}

void TransformerLayer::take_absent(LayerActivations& a, Workspace& workspace) const {
    const std::int64_t tokens = block_.tokens();
    if (!a.qkv.present()) a.qkv = workspace.matrix(type_, tokens, attention_.qkv_width());
    if (!a.attention_output.present()) {
        a.attention_output = workspace.matrix(type_, tokens, attention_.query_width());
        a.statistics =
            static_cast<float*>(workspace.take(attention_.heads * tokens * bytes_of(DType::fp32)));
    }
}

void TransformerLayer::normed_input(const Pass& pass, Matrix normed, Matrix x) const {
    pass.kernels.rms_norm(normed, x, pass.vector(&Of::input_norm), epsilon_, pass.attention_input);
}

void TransformerLayer::attention_half(const Pass& pass, Matrix x, LayerActivations& a,
                                      Matrix normed, bool fresh, Workspace& workspace) const {
    Kernels& kernels = pass.kernels;
    take_absent(a, workspace);
    normed_input(pass, normed, x);
    pass.linear(a.qkv, {normed, pass.attention_input}, pass.qkv,
                pass.adapters_of(kAdaptedQkv, a.adapted.qkv), {}, pass.vector(&Of::qkv_bias));
    if (head_norm_)
        kernels.head_norm(attention_, a.qkv, pass.vector(&Of::query_norm),
                          pass.vector(&Of::key_norm), epsilon_, a.unnormed);
    kernels.rotary(attention_, rotary_, a.qkv, false);
    if (fresh) kernels.attention(attention_, a.qkv, a.attention_output, a.statistics, a.documents);
    pass.linear(a.residual, {a.attention_output}, pass.output,
                pass.adapters_of(kAdaptedOutput, a.adapted.output), x);
}

/// Tensors of the feed-forward for some of the tokens.
struct TransformerLayer::Chunk {
    std::int64_t begin;  ///< first token
    Matrix residual, normed, product, gate_up;
    EightBits codes;
    AdaptedInputs adapted;  ///< of gate, up and down
};

template <typename Use>
void TransformerLayer::each_chunk(const LayerActivations& a, Workspace& workspace, Use use) const {
    const std::int64_t chunk = std::min(block_.feed_forward_chunk, block_.tokens());
    const Matrix normed = hidden_matrix(workspace, chunk);
    // Experts take memory for the copies of their tokens.
    const bool dense = !experts_.present();
    const Matrix product = dense ? workspace.matrix(type_, chunk, intermediate_) : Matrix{};
    const Matrix scratch = dense && !a.gate_up.present()
                               ? workspace.matrix(type_, chunk, 2 * intermediate_)
                               : Matrix{};
    const std::int64_t copies = copies_of_token();
    for (std::int64_t begin = 0; begin < block_.tokens(); begin += chunk) {
        const std::int64_t rows = std::min(chunk, block_.tokens() - begin);
        const auto part = [&](const Matrix& of, std::int64_t first, std::int64_t count) {
            return of.present() ? of.row_range(first, count) : Matrix{};
        };
        use(Chunk{
            begin,
            a.residual.row_range(begin, rows),
            normed.row_range(0, rows),
            part(product, 0, rows),
            scratch.present() ? scratch.row_range(0, rows)
                              : part(a.gate_up, begin * copies, rows * copies),
            a.gate_up_codes.rows_from(begin * copies),
            {{}, {}, part(a.adapted.gate_up, begin, rows), part(a.adapted.down, begin, rows)}});
    }
}

void TransformerLayer::forward(Kernels& kernels, const LayerWeights& weights, Matrix x, Matrix y,
                               const LayerActivations& kept, Workspace workspace,
                               Workspace operands, const LayerAdapters& adapters) const {
    const Pass pass(kernels, layout_of(weights), weights, operands, adapters,
                    adapters.take_memory(workspace, block_.tokens(), type_));
    LayerActivations a = kept;
    if (!a.residual.present()) a.residual = hidden_matrix(workspace, block_.tokens());
    const Bytes half = workspace.used();
    attention_half(pass, x, a, hidden_matrix(workspace, block_.tokens()), true, workspace);
    workspace.rewind(half);
    feed_forward(pass, a, y, workspace);
}

void TransformerLayer::forward_again(Kernels& kernels, const LayerWeights& weights, Matrix x,
                                     Matrix y, const LayerActivations& kept, Workspace workspace,
                                     Workspace operands, const LayerAdapters& adapters) const {
    const Pass pass(kernels, layout_of(weights), weights, operands, adapters,
                    adapters.take_memory(workspace, block_.tokens(), type_));
    LayerActivations a = kept;
    if (!a.residual.present()) {
        a.residual = hidden_matrix(workspace, block_.tokens());
        const Bytes half = workspace.used();
        if (kept.attention_output.present())
            pass.linear(a.residual, {a.attention_output}, pass.output,
                        pass.adapters_of(kAdaptedOutput, a.adapted.output), x);
        else
            attention_half(pass, x, a, hidden_matrix(workspace, block_.tokens()), true, workspace);
        workspace.rewind(half);
    }
    feed_forward(pass, a, y, workspace);
}

void TransformerLayer::feed_forward(const Pass& pass, const LayerActivations& a, Matrix y,
                                    Workspace& workspace) const {
    const Pass later = pass.for_later_tokens();
    each_chunk(a, workspace, [&](const Chunk& c) {
        Kernels& kernels = pass.kernels;
        const Pass& now = c.begin == 0 ? pass : later;
        kernels.rms_norm(c.normed, c.residual, pass.vector(&Of::feed_forward_norm), epsilon_,
                         pass.feed_forward_input);
        if (experts_.present())
            return experts_.forward(kernels, pass.weights,
                                    {c.residual, c.normed, c.gate_up, c.codes, a.busiest},
                                    y.row_range(c.begin, c.residual.rows), workspace);
        now.linear(c.gate_up, {c.normed, pass.feed_forward_input}, now.gate_up,
                   pass.adapters_of(kAdaptedGateUp, c.adapted.gate_up, c.begin));
        kernels.swiglu(c.product, c.gate_up, pass.product, c.codes);
        now.linear(y.row_range(c.begin, c.residual.rows), {c.product, pass.product}, now.down,
                   pass.adapters_of(kAdaptedDown, c.adapted.down, c.begin), c.residual);
    });
}

void TransformerLayer::backward(Kernels& kernels, const LayerWeights& weights,
                                GradientTarget target, Matrix x, Matrix gradient,
                                const LayerActivations& kept, Workspace workspace,
                                Workspace operands, const LayerAdapters& adapters) const {
    const Pass pass(kernels, layout_of(weights), weights, operands, adapters,
                    adapters.take_memory(workspace, block_.tokens(), type_));
    if (adapters.present()) target = {.accumulate = adapters.gradient.accumulate};
    LayerActivations a = kept;
    if (!kept.qkv.present()) {
        a.residual = hidden_matrix(workspace, block_.tokens());
        if (head_norm_)
            a.unnormed = workspace.matrix(type_, block_.tokens(),
                                          attention_.query_width() + attention_.key_width());
        take_absent(a, workspace);
    }
    if (adapters.present() && !kept.adapted.present()) {
        a.adapted = take_inputs(*adapters.layout, workspace);
        a.adapted.down = {};  // forward does not run so far again
    }
    const Bytes kept_end = workspace.used();
    Matrix normed;
    if (!kept.qkv.present()) {
        normed = hidden_matrix(workspace, block_.tokens());
        attention_half(pass, x, a, normed, !kept.attention_output.present(), workspace);
    } else if (!block_.in_chunks()) {
        normed = hidden_matrix(workspace, block_.tokens());
        normed_input(pass, normed, x);
    }
    if (block_.in_chunks()) {
        // Memory is short: it is made again for the gradients.
        workspace.rewind(kept_end);
        normed = {};
    }
    feed_forward_backward(pass, target, gradient, a, workspace);
    attention_backward(pass, target, x, gradient, a, normed, workspace);
}

void TransformerLayer::feed_forward_backward(const Pass& pass, GradientTarget target,
                                             Matrix gradient, const LayerActivations& a,
                                             Workspace workspace) const {
    Kernels& kernels = pass.kernels;
    const Vector norm = pass.vector(&Of::feed_forward_norm);
    each_chunk(a, workspace, [&](const Chunk& c) {
        const Matrix dy = gradient.row_range(c.begin, c.residual.rows);
        const bool add = target.accumulate || c.begin > 0;
        kernels.rms_norm(c.normed, c.residual, norm, epsilon_, pass.feed_forward_input);
        if (experts_.present())
            experts_.backward(kernels, pass.weights, target, add,
                              {c.residual, c.normed, c.gate_up, c.codes}, dy, workspace);
        else
            dense_backward(pass, target, add, c, dy, a.gate_up.present());
        kernels.rms_norm_backward(dy, true, c.normed, c.residual, norm, epsilon_,
                                  target.vector(layout_.feed_forward_norm), add);
    });
}

void TransformerLayer::dense_backward(const Pass& pass, GradientTarget target, bool add,
                                      const Chunk& c, Matrix dy, bool has_gate_up) const {
    Kernels& kernels = pass.kernels;
    const Operand input{c.normed, pass.feed_forward_input};
    Operand product{c.product}, gate_up{c.gate_up};
    const ProductAdapters gate_up_adapters =
        pass.adapters_of(kAdaptedGateUp, c.adapted.gate_up, c.begin);
    Workspace operands = pass.operands;
    if (!has_gate_up && !c.codes.present())
        pass.linear(c.gate_up, input, pass.gate_up, gate_up_adapters);
    // Gradients overwrite gate and up, and the norm; that of the product makes room for the
    // product again. Adapters read both in bf16, and frozen weights no codes of the product.
    const bool writes_codes = operands.present() && !pass.adapters.present();
    const SwigluCodes codes =
        writes_codes ? take_swiglu_codes(operands, dy.rows, intermediate_) : SwigluCodes{};
    LinearBackward down =
        pass.backward_of(operands, {dy}, pass.adapters_of(kAdaptedDown, c.adapted.down, c.begin));
    down.input(c.product, pass.down);
    if (writes_codes) {
        kernels.swiglu_backward_fp8(c.gate_up, c.product, codes, c.codes);
        product.codes = {.columns = codes.product_columns, .scale = codes.product_scale};
        gate_up.codes = {codes.gradient, codes.gradient_columns, codes.gradient_scale};
    } else {
        if (operands.present())
            gate_up.scale = static_cast<Fp8Scale*>(operands.take(sizeof(Fp8Scale)));
        kernels.swiglu_backward(c.gate_up, c.product, c.codes, gate_up.scale);
    }
    down.weight(target.matrix(layout_.down), product, add);
    LinearBackward up = pass.backward_of(operands, gate_up, gate_up_adapters);
    up.weight(target.matrix(layout_.gate_up), input, add);
    up.input(c.normed, pass.gate_up);
}

void TransformerLayer::attention_backward(const Pass& pass, GradientTarget target, Matrix x,
                                          Matrix gradient, const LayerActivations& a, Matrix normed,
                                          Workspace workspace) const {
    Kernels& kernels = pass.kernels;
    const bool add = target.accumulate;
    const std::int64_t tokens = block_.tokens(), width = attention_.query_width();
    // The residual is no longer needed: this gradient overwrites it, then the normed input if that
    // is absent, then its gradient.
    const Matrix doutput = width <= hidden_ ? Matrix(a.residual.data, type_, tokens, width)
                                            : workspace.matrix(type_, tokens, width);
    const Matrix dqkv = attention_in_parts(batch_of(attention_, a.documents))
                            ? a.qkv
                            : workspace.matrix(type_, tokens, attention_.qkv_width());
    void* const sums = workspace.take(kernels.attention_workspace_bytes(attention_, a.documents));
    LinearBackward output = pass.backward_of(pass.operands, {gradient},
                                             pass.adapters_of(kAdaptedOutput, a.adapted.output));
    output.weight(target.matrix(layout_.output), {a.attention_output}, add);
    output.input(doutput, pass.output);
    kernels.attention_backward(attention_, a.qkv, a.attention_output, a.statistics, doutput, dqkv,
                               sums, a.documents);
    kernels.rotary(attention_, rotary_, dqkv, true);
    if (head_norm_)
        kernels.head_norm_backward(
            attention_, dqkv, a.unnormed, pass.vector(&Of::query_norm), pass.vector(&Of::key_norm),
            epsilon_, target.vector(layout_.query_norm), target.vector(layout_.key_norm), add);
    if (layout_.qkv_bias.rows > 0 && target.present())
        kernels.bias_backward(target.vector(layout_.qkv_bias), dqkv, add);
    LinearBackward qkv =
        pass.backward_of(pass.operands, {dqkv}, pass.adapters_of(kAdaptedQkv, a.adapted.qkv));
    if (!normed.present()) {
        normed = a.residual;
        normed_input(pass, normed, x);
    }
    qkv.weight(target.matrix(layout_.qkv), {normed, pass.attention_input}, add);
    qkv.input(a.residual, pass.qkv);
    kernels.rms_norm_backward(gradient, true, a.residual, x, pass.vector(&Of::input_norm), epsilon_,
                              target.vector(layout_.input_norm), add);
}

}  // namespace sluice
