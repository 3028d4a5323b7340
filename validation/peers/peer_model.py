"""A plain PyTorch model of Qwen2's shape with untied embeddings, for the scripts in this folder."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

# hidden, feed-forward, heads, key and value heads, layers, vocabulary; all have heads of hidden / heads. `tiny` is for trying a
# script without a GPU. `narrow` leaves the GPU nearly idle, so that a step takes as long as the host's Python, and each
# matrix is still above ZeRO-3's stage3_param_persistence_threshold of 1e5.
MODELS = {
    "tiny": (128, 256, 4, 2, 4, 1024),
    "narrow": (512, 512, 4, 2, 28, 1024),
    "qwen2.5-0.5b": (896, 4864, 14, 2, 24, 151936),
    "qwen2.5-1.5b": (1536, 8960, 12, 2, 28, 151936),
    "qwen2.5-3b": (2048, 11008, 16, 2, 36, 151936),
    "qwen2.5-7b": (3584, 18944, 28, 4, 28, 152064),
    "llama-3.1-8b": (4096, 14336, 32, 8, 32, 128256),
}


class Layer(nn.Module):
    def __init__(self, hidden, feed_forward, heads, kv_heads, empty_modules):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        self.norm1, self.norm2 = nn.RMSNorm(hidden, eps=1e-6), nn.RMSNorm(hidden, eps=1e-6)
        self.q = nn.Linear(hidden, heads * self.size)
        self.k = nn.Linear(hidden, kv_heads * self.size)
        self.v = nn.Linear(hidden, kv_heads * self.size)
        self.o = nn.Linear(heads * self.size, hidden, bias=False)
        self.gate = nn.Linear(hidden, feed_forward, bias=False)
        self.up = nn.Linear(hidden, feed_forward, bias=False)
        self.down = nn.Linear(feed_forward, hidden, bias=False)
        self.empty = nn.ModuleList(nn.Identity() for _ in range(empty_modules))

    def attention(self, x, cos, sin):
        batch, seq, _ = x.shape
        split = lambda y, heads: y.view(batch, seq, heads, self.size).transpose(1, 2)
        q, k, v = split(self.q(x), self.heads), split(self.k(x), self.kv_heads), split(self.v(x), self.kv_heads)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, dim=1) for y in (k, v))
        with nn.attention.sdpa_kernel(nn.attention.SDPBackend.FLASH_ATTENTION):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, seq, -1))

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        for module in self.empty:
            y = module(y)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Model(nn.Module):
    """forward(tokens, targets), each [batch, seq], is the mean cross-entropy, from whole fp32 logits."""

    def __init__(self, name, layers, recompute, reentrant=False, empty_modules=0):
        super().__init__()
        hidden, feed_forward, heads, kv_heads, all_layers, self.vocabulary = MODELS[name]
        self.embedding = nn.Embedding(self.vocabulary, hidden)
        self.layers = nn.ModuleList(
            Layer(hidden, feed_forward, heads, kv_heads, empty_modules) for _ in range(layers or all_layers)
        )
        self.norm = nn.RMSNorm(hidden, eps=1e-6)
        self.head = nn.Linear(hidden, self.vocabulary, bias=False)
        self.size, self.recompute, self.reentrant = hidden // heads, recompute, reentrant

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        at = torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.float32)
        frequency = 1e6 ** (-torch.arange(0, self.size, 2, device=tokens.device, dtype=torch.float32) / self.size)
        angles = torch.cat([torch.outer(at, frequency)] * 2, dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        for layer in self.layers:
            x = checkpoint(layer, x, cos, sin, use_reentrant=self.reentrant) if self.recompute else layer(x, cos, sin)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def made(name, layers, recompute, device, dtype, reentrant=False, empty_modules=0):
    """A Model with random weights on the device; each layer calls empty_modules more that compute nothing."""
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    with torch.device(device):
        model = Model(name, layers, recompute, reentrant, empty_modules)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
    return model
