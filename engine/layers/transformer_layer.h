// How is a layer computed, forward and backward? Pre-norm attention and SwiGLU
// feed-forward of Llama, Mistral, Qwen2 and Qwen3, or experts (experts.h).
//
//   n1 = norm(x)    qkv = n1 Wqkv^T + b, q and k normed (Qwen3) and rotated    o = attention(qkv)
//   r = x + o Wo^T  n2 = norm(r)   g = n2 Wgu^T   y = r + swiglu(g) Wd^T
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/layers/adapters.h"
#include "engine/layers/experts.h"
#include "engine/layers/gradient_target.h"
#include "engine/layers/layer_form.h"
#include "engine/layers/layer_layout.h"
#include "engine/layers/workspace.h"
#include "sim/specs/model/layer_kernels.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// Tensors of forward that backward reads. Recomputation makes the absent ones again.
struct LayerActivations {
    Documents documents;          ///< of the micro-batch; attention stays within them
    Matrix qkv;                   ///< (tokens, qkv_width) rotated
    Matrix unnormed;              ///< (tokens, q and k) before their norms (Qwen3)
    Matrix attention_output;      ///< (tokens, query_width)
    float* statistics = nullptr;  ///< (heads, tokens)
    Matrix residual;              ///< (tokens, hidden)
    Matrix gate_up;               ///< (tokens, 2 x intermediate), or of their copies to experts
    EightBits gate_up_codes;      ///< in place of gate_up, with 8 bits a number
    AdaptedInputs adapted;        ///< with adapters
    /// Where forward adds the load of the busiest expert over the mean; null: nowhere.
    double* busiest = nullptr;
};

/// One layer for one micro-batch.
class TransformerLayer {
  public:
    /// `activations` is the type of hidden states. Throws InputError like layer_layout().
    TransformerLayer(const ModelSpec& model, const LayerSpec& layer, TokenBlock block,
                     DType activations);

    const LayerLayout& layout() const { return layout_; }

    /// The tensors that `recompute` keeps, taken from `memory`; gate and up with `bits` a number.
    LayerActivations keep(Recompute recompute, Workspace& memory, std::int64_t bits = 16,
                          const AdapterLayout* adapters = nullptr) const;

    /// y = layer(x); x and y are (tokens, hidden). Fills the present tensors of `kept`. Products
    /// are in FP8 if there is memory for their `operands`, else in bf16; those of adapters are in
    /// bf16.
    void forward(Kernels& kernels, const LayerWeights& weights, Matrix x, Matrix y,
                 const LayerActivations& kept, Workspace workspace, Workspace operands = {},
                 const LayerAdapters& adapters = {}) const;

    /// y once more, given the same x and what forward() kept.
    void forward_again(Kernels& kernels, const LayerWeights& weights, Matrix x, Matrix y,
                       const LayerActivations& kept, Workspace workspace, Workspace operands = {},
                       const LayerAdapters& adapters = {}) const;

    /// Given x and `gradient` (of y), makes the absent tensors of `kept` again, writes or adds the
    /// weights' gradients, or those of adapters, and overwrites `gradient` by the gradient of x.
    void backward(Kernels& kernels, const LayerWeights& weights, GradientTarget target, Matrix x,
                  Matrix gradient, const LayerActivations& kept, Workspace workspace,
                  Workspace operands = {}, const LayerAdapters& adapters = {}) const;

  private:
    struct Pass;
    struct Chunk;
    /// Calls use(Chunk) for one chunk of tokens after another; gate and up are in `a` if it keeps
    /// them.
    template <typename Use>
    void each_chunk(const LayerActivations& a, Workspace& workspace, Use use) const;
    const LayerLayout& layout_of(const LayerWeights& weights) const {
        return layouts_[static_cast<std::size_t>(weights.form)];
    }
    /// Rows of gate and up that a token has.
    std::int64_t copies_of_token() const { return experts_.present() ? experts_.of_token() : 1; }
    Matrix hidden_matrix(Workspace& workspace, std::int64_t rows) const;
    /// q, k and v and attention's output, if `a` does not have them.
    void take_absent(LayerActivations& a, Workspace& workspace) const;
    AdaptedInputs take_inputs(const AdapterLayout& adapters, Workspace& memory) const;
    void normed_input(const Pass& pass, Matrix normed, Matrix x) const;
    /// Up to the residual, with attention itself where it is `fresh`; absent tensors of `a` are
    /// taken from `workspace`.
    void attention_half(const Pass& pass, Matrix x, LayerActivations& a, Matrix normed, bool fresh,
                        Workspace& workspace) const;
    /// From the residual of `a` on.
    void feed_forward(const Pass& pass, const LayerActivations& a, Matrix y,
                      Workspace& workspace) const;
    void feed_forward_backward(const Pass& pass, GradientTarget target, Matrix gradient,
                               const LayerActivations& a, Workspace workspace) const;
    void dense_backward(const Pass& pass, GradientTarget target, bool add, const Chunk& chunk,
                        Matrix dy, bool has_gate_up) const;
    /// `normed` may be absent.
    void attention_backward(const Pass& pass, GradientTarget target, Matrix x, Matrix gradient,
                            const LayerActivations& a, Matrix normed, Workspace workspace) const;

    TokenBlock block_;
    DType type_;
    std::int64_t hidden_, intermediate_;
    float epsilon_;
    bool head_norm_;
    AttentionShape attention_;
    RotaryShape rotary_;
    LayerLayout layout_;
    std::vector<LayerLayout> layouts_;  ///< of each form of weights
    Experts experts_;
};

}  // namespace sluice
