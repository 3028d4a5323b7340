"""How does a model of the Llama, Mistral, Mixtral, Qwen2 or Qwen3 family compute its logits?

Plain PyTorch with autograd, from the shapes in config.json and tensors under their Hugging Face
names. reference_model_test.py holds it against transformers' own classes.
"""

import json
import math
import pathlib
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy, embedding, linear, silu

# The name of a feed-forward with experts, and its families' names of gate, up and down.
EXPERT_NAMES = {
    "mlp": ("gate_proj", "up_proj", "down_proj"),
    "block_sparse_moe": ("w1", "w3", "w2"),
}

# Tensors here are so small that a second thread only waits.
torch.set_num_threads(1)


@dataclass(frozen=True)
class ModelShape:
    """The fields of a config.json that decide what is computed."""

    vocabulary: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    windows: tuple  # by layer: keys that a query sees, its own included; 0: all before it
    epsilon: float
    rotary: dict  # rope_theta, and the fields of Llama 3's scaling where there is one
    head_norm: bool  # queries and keys are normed (Qwen3)
    tied: bool
    experts: int = 0
    experts_of_token: int = 0
    weights_of_chosen: bool = True  # softmax over the chosen experts alone, not over all


def read_shape(folder):
    """The shape of the model that is saved in `folder`."""
    config = json.loads((pathlib.Path(folder) / "config.json").read_text())
    family = config["model_type"]
    layers = config["num_hidden_layers"]
    window = config.get("sliding_window") or 0
    usual = "sliding_attention" if family in ("mistral", "mixtral") else "full_attention"
    types = config.get("layer_types") or [usual] * layers
    if family == "qwen2" and config["use_sliding_window"] and "layer_types" not in config:
        full = min(layers, config["max_window_layers"])
        types = types[:full] + ["sliding_attention"] * (layers - full)
    rotary = config.get("rope_parameters") or config.get("rope_scaling") or {}
    return ModelShape(
        vocabulary=config["vocab_size"],
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_dim=config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"],
        windows=tuple(window if one == "sliding_attention" else 0 for one in types),
        epsilon=config["rms_norm_eps"],
        rotary={"rope_theta": config.get("rope_theta"), **rotary},
        head_norm=family in ("qwen3", "qwen3_moe"),
        tied=config["tie_word_embeddings"],
        experts=config.get("num_experts") or config.get("num_local_experts") or 0,
        experts_of_token=config.get("num_experts_per_tok", 0),
        weights_of_chosen=config.get("norm_topk_prob", True),
    )


class _KeptInBf16(torch.autograd.Function):
    """A tensor that the trainer keeps in bf16: its value is rounded, and so is its gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.bfloat16().to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        return gradient.bfloat16().to(gradient.dtype)


def _rms_norm(x, weight, epsilon):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * weight


def _rotary_frequencies(rotary, head_dim):
    """Radians a position of each pair of elements, (head_dim / 2); Llama 3 stretches wavelengths
    longer than original / low_freq_factor and blends those down to original / high_freq_factor."""
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim
    plain = rotary["rope_theta"] ** -exponents
    if rotary.get("rope_type", "default") == "default":
        return plain
    if rotary["rope_type"] != "llama3":
        raise ValueError(f"rope_type is {rotary['rope_type']}, expected default or llama3")
    low, high = rotary["low_freq_factor"], rotary["high_freq_factor"]
    turns = rotary["original_max_position_embeddings"] * plain / (2 * math.pi)
    smooth = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - smooth) * plain / rotary["factor"] + smooth * plain


class ReferenceModel:
    """`bf16_activations`: what the trainer keeps in bf16 is rounded where it is kept; products and
    all that is inside of a kernel stay in the type of the weights. `begins_document`: the id of the
    tokens that begin documents, within which attention then stays; positions begin again there."""

    def __init__(self, shape, bf16_activations=False, begins_document=None):
        self.shape, self.begins_document = shape, begins_document
        self.kept = _KeptInBf16.apply if bf16_activations else lambda x: x

    def loss_sum(self, weights, inputs, targets):
        """Sum over the targets that are not -1; inputs and targets are (sequences, seq) ids."""
        logits = self.logits(weights, inputs).flatten(0, 1)
        return cross_entropy(logits, targets.flatten(), ignore_index=-1, reduction="sum")

    def logits(self, weights, inputs):
        """(sequences, seq, vocabulary). A tied model reads lm_head.weight too, so that the two
        gradients of its embedding stay apart."""
        x = self.kept(embedding(inputs, weights["model.embed_tokens.weight"]))
        begins = inputs == self.begins_document if self.begins_document is not None else inputs < 0
        self.documents = begins.cumsum(1)  # (sequences, seq): the document of each token
        place = torch.arange(inputs.shape[1]).expand(inputs.shape)
        self.positions = place - (place * begins).cummax(1).values
        for index, window in enumerate(self.shape.windows):
            prefix = f"model.layers.{index}."
            layer = {k.removeprefix(prefix): w for k, w in weights.items() if k.startswith(prefix)}
            x = self._layer(layer, window, x)
        normed = self.kept(_rms_norm(x, weights["model.norm.weight"], self.shape.epsilon))
        return self.kept(linear(normed, weights["lm_head.weight"]))

    def _layer(self, w, window, x):
        kept, epsilon = self.kept, self.shape.epsilon
        normed = kept(_rms_norm(x, w["input_layernorm.weight"], epsilon))
        attended = kept(self._attention(w, window, normed))
        residual = kept(x + linear(attended, w["self_attn.o_proj.weight"]))
        normed = kept(_rms_norm(residual, w["post_attention_layernorm.weight"], epsilon))
        for block, names in EXPERT_NAMES.items():
            if block + ".gate.weight" in w:
                return kept(residual + self._experts(w, block, names, normed))
        gate = kept(linear(normed, w["mlp.gate_proj.weight"]))
        up = kept(linear(normed, w["mlp.up_proj.weight"]))
        return kept(residual + linear(kept(silu(gate) * up), w["mlp.down_proj.weight"]))

    def _experts(self, w, block, names, normed):
        """The sum of the chosen experts' outputs. The router's logits stay in the type of weights."""
        logits = linear(normed, w[block + ".gate.weight"])
        best, chosen = logits.topk(self.shape.experts_of_token, -1)
        all_weights = logits.softmax(-1).gather(-1, chosen)
        weights = best.softmax(-1) if self.shape.weights_of_chosen else all_weights
        total = torch.zeros_like(normed)
        for expert in range(logits.shape[-1]):
            gate, up, down = (w[f"{block}.experts.{expert}.{name}.weight"] for name in names)
            token, which = torch.where((chosen == expert).flatten(0, 1))
            x = normed.flatten(0, 1)[token]
            product = silu(self.kept(linear(x, gate))) * self.kept(linear(x, up))
            weight = weights.flatten(0, 1)[token, which].unsqueeze(-1)
            out = self.kept(linear(self.kept(weight * product), down))
            total = total.flatten(0, 1).index_add(0, token, out).view_as(normed)
        return total

    def _attention(self, w, window, x):
        s = self.shape
        queries = self._rotated(self._heads(w, "q", s.heads, x))
        keys = self._rotated(self._heads(w, "k", s.kv_heads, x))
        values = self._heads(w, "v", s.kv_heads, x)
        group = s.heads // s.kv_heads
        keys, values = (t.repeat_interleave(group, dim=1) for t in (keys, values))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(s.head_dim)
        position = torch.arange(x.shape[1])
        distance = position.unsqueeze(1) - position
        unseen = (distance < 0) | ((distance >= window) if window else False)
        others = self.documents.unsqueeze(2) != self.documents.unsqueeze(1)
        unseen = (unseen | others).unsqueeze(1)  # of all heads
        weights = scores.masked_fill(unseen, -math.inf).softmax(-1)
        return (weights @ values).transpose(1, 2).flatten(2)

    def _heads(self, w, which, count, x):
        """(sequences, count, seq, head_dim) of queries, keys or values."""
        name = f"self_attn.{which}_proj."
        projected = self.kept(linear(x, w[name + "weight"], w.get(name + "bias")))
        heads = projected.unflatten(-1, (count, self.shape.head_dim)).transpose(1, 2)
        if self.shape.head_norm and which != "v":
            weight = w[f"self_attn.{which}_norm.weight"]
            heads = self.kept(_rms_norm(heads, weight, self.shape.epsilon))
        return heads

    def _rotated(self, heads):
        frequencies = _rotary_frequencies(self.shape.rotary, self.shape.head_dim).to(heads.dtype)
        angles = self.positions[:, None, :, None].to(heads.dtype) * frequencies
        low, high = heads.chunk(2, dim=-1)
        cosine, sine = angles.cos(), angles.sin()
        return self.kept(torch.cat((low * cosine - high * sine, high * cosine + low * sine), -1))
