"""Which models do the tests train? Tiny ones of every family, random, saved by transformers."""

import torch
import transformers

transformers.utils.logging.disable_progress_bar()

TINY = dict(
    vocab_size=300,
    hidden_size=64,
    intermediate_size=112,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=256,
    rms_norm_eps=1e-4,
    tie_word_embeddings=False,
)
# Sizes that no vector or block of any kernel divides.
ODD = dict(
    TINY,
    vocab_size=259,
    hidden_size=40,
    intermediate_size=52,
    num_attention_heads=6,
    num_key_value_heads=2,
    head_dim=10,
)
LLAMA3_ROPE = dict(
    rope_type="llama3",
    rope_theta=10000.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=32,
)

# The least that 8-bit moments allow, which share a scale by 128.
WIDE = dict(TINY, hidden_size=128, num_hidden_layers=2)

MODELS = {
    "qwen2": ("Qwen2", dict(TINY)),
    "qwen2-tied": ("Qwen2", dict(TINY, tie_word_embeddings=True)),
    # The first layer sees everything, the others 7 tokens.
    "qwen2-window": (
        "Qwen2",
        dict(TINY, use_sliding_window=True, sliding_window=7, max_window_layers=1),
    ),
    "qwen2-odd": ("Qwen2", dict(ODD, tie_word_embeddings=True)),
    "qwen2-wide": ("Qwen2", dict(WIDE, tie_word_embeddings=True)),
    "qwen3": ("Qwen3", dict(TINY)),
    # The layers' own list: windows in no order that max_window_layers could tell.
    "qwen3-listed": (
        "Qwen3",
        dict(
            TINY,
            use_sliding_window=True,
            sliding_window=7,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        ),
    ),
    "qwen3-odd": ("Qwen3", dict(ODD, tie_word_embeddings=True)),
    "llama": ("Llama", dict(TINY, rope_parameters=LLAMA3_ROPE)),
    "mistral": ("Mistral", dict(TINY, sliding_window=7)),
    # The middle layer has no experts.
    "qwen3-moe": (
        "Qwen3Moe",
        dict(
            TINY,
            num_experts=6,
            num_experts_per_tok=2,
            moe_intermediate_size=24,
            norm_topk_prob=True,
            mlp_only_layers=[1],
        ),
    ),
    # Weights are of all experts, and most experts have few tokens.
    "qwen3-moe-many": (
        "Qwen3Moe",
        dict(TINY, num_experts=40, num_experts_per_tok=3, moe_intermediate_size=8),
    ),
    "mixtral": (
        "Mixtral",
        dict(TINY, intermediate_size=48, num_local_experts=4, sliding_window=7),
    ),
    # All tokens go to all experts, so that rounding chooses none.
    "mixtral-both": (
        "Mixtral",
        dict(TINY, intermediate_size=48, num_local_experts=2, sliding_window=None),
    ),
}


def random_model(name, seed=1):
    """A transformers model in bf16. Unlike transformers' own initialisation, norms are not ones nor
    biases zeros, and matrices keep the size of what passes: every error then shows."""
    family, fields = MODELS[name]
    config = getattr(transformers, family + "Config")(**fields)
    model = getattr(transformers, family + "ForCausalLM")._from_config(
        config, dtype=torch.bfloat16, attn_implementation="eager"
    )
    generator = torch.Generator().manual_seed(seed)
    for weight_name, weight in model.named_parameters():
        noise = torch.randn(weight.shape, generator=generator)
        if weight_name.endswith("norm.weight"):
            values = 1 + 0.2 * noise
        elif weight_name.endswith(".bias"):
            values = 0.2 * noise
        else:
            values = noise / weight.shape[-1] ** 0.5
        weight.data.copy_(values)
    return model


def save_model(name, folder, **options):
    """Writes config.json and model.safetensors; `options` as save_pretrained has them."""
    random_model(name).save_pretrained(folder, **options)
    return folder
