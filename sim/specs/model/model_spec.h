// Which transformer is trained: its layers and shapes, its number of parameters, and the bytes of
// its activations?
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// A larger number in a file is a mistake.
inline constexpr std::int64_t kMostLayers = 10'000;

/// Self-attention of one layer. `latent` is DeepSeek's multi-head latent attention (arXiv
/// 2405.04434).
struct AttentionSpec {
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;   ///< of queries and keys
    std::int64_t value_dim = 0;  ///< of values; mostly equals head_dim unless latent
    std::int64_t window = 0;     ///< number of keys that a query sees; 0: all before it
    bool qkv_bias = false;
    bool output_bias = false;
    bool qk_norm = false;               ///< one RMSNorm weight of head_dim each for q and k
    bool qk_norm_of_all_heads = false;  ///< with qk_norm: a weight for each number of q and of k
    bool rotary = true;                 ///< else the layer sees no positions (NoPE)
    std::int64_t gate_width = 0;        ///< rows of a projection that scales the output; 0: none
    bool sinks = false;                 ///< one learned logit per head (gpt_oss)
    bool latent = false;
    std::int64_t query_rank = 0;  ///< latent only; 0: queries are projected directly
    std::int64_t kv_rank = 0;     ///< latent only
    std::int64_t rope_dim = 0;    ///< latent only: the part of head_dim that carries positions

    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t key_width() const { return kv_heads * head_dim; }
    std::int64_t value_width() const { return kv_heads * value_dim; }
    std::int64_t qkv_width() const { return query_width() + key_width() + value_width(); }
    std::int64_t output_width() const { return heads * value_dim; }
    bool operator==(const AttentionSpec&) const = default;
};

/// An expert's output counts by the softmax of the router's logits over all experts, or over those
/// that the token goes to.
enum class RouteWeights : std::uint8_t { of_all, of_chosen };

/// Feed-forward part of one layer: dense (experts == 0) or a mixture of experts.
struct FeedForwardSpec {
    std::int64_t intermediate = 0;  ///< of one expert, if there are experts
    bool gated = true;              ///< gate and up projections (SwiGLU, GeGLU); else up only
    bool bias = false;
    std::int64_t experts = 0;
    std::int64_t experts_per_token = 0;
    std::int64_t shared_intermediate = 0;  ///< width of the experts that every token passes
    bool shared_gate = false;              ///< a row of `hidden` that scales their output
    bool router_bias = false;
    RouteWeights route_weights = RouteWeights::of_chosen;
    std::int64_t activation_parameters = 0;

    std::int64_t projections() const { return gated ? 2 : 1; }
    bool operator==(const FeedForwardSpec&) const = default;
};

struct LayerSpec {
    AttentionSpec attention;
    FeedForwardSpec feed_forward;
    std::int64_t norms = 2;  ///< Gemma has four; with one, both halves read the same normed input
    bool norms_behind = false;  ///< norms read the outputs of the halves, none reads an input
    bool norm_bias = false;     ///< LayerNorm (gpt2) in place of RMSNorm

    bool norm_before_attention() const { return !norms_behind; }
    bool norm_before_feed_forward() const { return !norms_behind && norms > 1; }
    bool norm_after_halves() const { return norms_behind || norms > 2; }
    bool operator==(const LayerSpec&) const = default;
};

/// One parameter tensor; a vector has columns == 1.
struct ParameterTensor {
    const char* name;
    std::int64_t rows = 0;
    std::int64_t columns = 1;
    std::int64_t count = 1;  ///< number of tensors of this shape (experts)
    /// Rows of the matrices that it joins: q, k and v, or gate and up; all 0 if it is one matrix.
    std::array<std::int64_t, 3> joins = {};
    std::int64_t elements() const { return rows * columns * count; }
    /// Rows of each matrix in it.
    std::vector<std::int64_t> rows_of_parts() const;
};

/// Rotary positions (arXiv 2104.09864). If `factor` is not 1, frequencies are scaled as in Llama
/// 3.1.
struct RotarySpec {
    double theta = 10'000;
    double factor = 1;
    double low_frequency_factor = 1;
    double high_frequency_factor = 4;
    double original_positions = 8192;
    bool operator==(const RotarySpec&) const = default;
};

struct ModelSpec {
    std::string name;
    std::string family;  ///< Hugging Face model_type, or "dense" for a generic shape
    std::string source;  ///< where the shape was read
    std::string note;
    std::int64_t hidden = 0;
    std::int64_t vocabulary = 0;
    std::int64_t learned_positions = 0;  ///< rows of a position embedding (gpt2); else 0
    std::int64_t longest_sequence = 0;   ///< max_position_embeddings; 0: unknown
    bool tied_embeddings = false;
    double norm_epsilon = 1e-6;
    RotarySpec rotary;
    /// A property of the model that the trainer lacks ("yarn scaling of positions"), else empty.
    std::string not_trained;
    bool norm_bias = false;
    bool head_bias = false;        ///< of the output projection
    std::vector<LayerSpec> kinds;  ///< the distinct layers
    std::vector<int> layers;       ///< for each layer, its index in `kinds`

    int layer_count() const { return static_cast<int>(layers.size()); }
    const LayerSpec& layer(int index) const {
        return kinds[static_cast<std::size_t>(layers[static_cast<std::size_t>(index)])];
    }
};

/// The tensors of one layer, in the order they are stored.
std::vector<ParameterTensor> layer_tensors(const ModelSpec& model, const LayerSpec& layer);

std::int64_t layer_parameters(const ModelSpec& model, const LayerSpec& layer);
/// Parameters of a layer that one token is multiplied with (all in a dense layer).
std::int64_t active_layer_parameters(const ModelSpec& model, const LayerSpec& layer);
std::int64_t largest_layer_parameters(const ModelSpec& model);
/// Token embedding, and position embedding if there is one.
std::int64_t embedding_parameters(const ModelSpec& model);
/// Final norm, and output projection unless tied.
std::int64_t head_parameters(const ModelSpec& model);
std::int64_t total_parameters(const ModelSpec& model);
std::int64_t active_parameters(const ModelSpec& model);

/// Throws InputError if the parameters or their bytes do not fit 64 bits; `where` names the model.
void refuse_uncountable(const ModelSpec& model, const std::string& where);

/// In at least one layer.
bool has_experts(const ModelSpec& model);

/// Adds a layer of this kind, `count` times.
void append_layers(ModelSpec& model, const LayerSpec& layer, std::int64_t count);
/// Keeps the first `count` layers; throws InputError unless 1 <= count <= layer_count().
void truncate_layers(ModelSpec& model, std::int64_t count);

/// Bytes of activations per token, as a schedule allocates them. The feed-forward's tensors may
/// exist for a chunk of the tokens at a time; the attention half needs whole sequences.
struct ActivationBytes {
    /// The layer's input, (hidden) bf16: the checkpoint.
    double input = 0;
    double qkv = 0;
    /// Output (heads x value_dim) bf16 and softmax statistics (heads) fp32.
    double attention_output = 0;

    /// Tensors that Recompute::none keeps in addition to the input: of the attention half
    /// (including the attention output and the residual after it), and of the feed-forward half.
    double attention_kept = 0;
    double feed_forward_kept = 0;
    /// Gate and up, which are part of the latter, in bf16 and in 8 bits.
    double gate_up = 0, gate_up_8_bit = 0;

    /// The tensor between the halves.
    double residual = 0;
    /// Largest total in each half of forward; for the feed-forward in addition to the residual.
    /// Experts need those of the router, too.
    double forward_attention = 0;
    double forward_feed_forward = 0;
    /// Largest totals in recomputation and backward. They include kept tensors: a schedule that
    /// keeps `attention_kept` or `feed_forward_kept` needs that much less. The attention half's
    /// tensors exist all the time; with them first the feed-forward's, then `attention_gradients`.
    double backward_attention = 0;
    double backward_feed_forward = 0;
    /// Gradients of q, k and v, and of the attention's output unless that replaces the residual.
    double attention_gradients = 0;
};

ActivationBytes activation_bytes_per_token(const ModelSpec& model, const LayerSpec& layer);

}  // namespace sluice
