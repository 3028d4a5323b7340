"""How does the trainer compute a step? Its rounding, around PyTorch's autograd, clip_grad_norm_ and
AdamW.

Masters are fp32, weights are masters rounded to bf16; gradients of weights are rounded to bf16
once, when all tokens of the step are in; gradients of embedding rows are sums in fp32.
"""

import math
from dataclasses import dataclass

import torch

from reference_model import ReferenceModel

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"


@dataclass(frozen=True)
class TrainingSettings:
    """As the options of sluice-train."""

    steps: int = 10
    micro_batches: int = 1
    learning_rate: float = 3e-3
    warmup_steps: int = 3
    schedule: str = "cosine"  # or linear, constant
    final_fraction: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    weight_decay: float = 0.1
    max_norm: float = 1.0


@dataclass
class ReferenceRun:
    losses: list
    gradient_norms: list  # before clipping
    masters: dict


def learning_rate_at(s, step):
    """`step` counts from 1. The rate rises to the peak at warmup_steps and ends at final_fraction
    of it."""
    if step <= s.warmup_steps:
        return s.learning_rate * step / s.warmup_steps
    if s.schedule == "constant":
        return s.learning_rate
    done = (step - s.warmup_steps) / (s.steps - s.warmup_steps)
    left = 1 - done if s.schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
    return s.learning_rate * (s.final_fraction + (1 - s.final_fraction) * left)


def rounded_to_bf16(master):
    """fp32 to the nearest bf16, ties away from zero, as fp32: the upper half of the bits, after
    adding half of its last place."""
    bits = (master.view(torch.int32) + 0x8000) & -0x10000
    return bits.view(torch.float32)


def _decays(name):
    return not name.endswith(("norm.weight", ".bias"))


class ReferenceTrainer:
    """`dtype`: of activations, gradients and sums, which fp64 makes exact next to the trainer's;
    the others: see ReferenceModel."""

    def __init__(
        self,
        shape,
        weights,
        settings,
        dtype=torch.float64,
        bf16_activations=False,
        begins_document=None,
    ):
        self.shape, self.settings, self.dtype = shape, settings, dtype
        self.model = ReferenceModel(shape, bf16_activations, begins_document)
        self.masters = {k: torch.nn.Parameter(w.float().clone()) for k, w in weights.items()}
        groups = [
            {"params": [m for k, m in self.masters.items() if _decays(k)]},
            {"params": [m for k, m in self.masters.items() if not _decays(k)], "weight_decay": 0.0},
        ]
        s = settings
        self.optimizer = torch.optim.AdamW(
            groups, betas=(s.beta1, s.beta2), eps=s.epsilon, weight_decay=s.weight_decay
        )

    def run(self, batches):
        """`batches`: (inputs, targets) a step, each (sequences, seq) ids."""
        losses, norms = [], []
        for step, (inputs, targets) in enumerate(batches, 1):
            losses.append(self._backward(inputs, targets))
            norm = torch.nn.utils.clip_grad_norm_(self.masters.values(), self.settings.max_norm)
            norms.append(norm.item())
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate_at(self.settings, step)
            self.optimizer.step()
        return ReferenceRun(losses, norms, {k: m.detach() for k, m in self.masters.items()})

    def _backward(self, inputs, targets):
        """Sets the masters' gradients and returns the mean loss."""
        weights = {k: rounded_to_bf16(m.detach()).to(self.dtype) for k, m in self.masters.items()}
        if self.shape.tied:
            weights[HEAD] = weights[EMBEDDING].clone()
        for weight in weights.values():
            weight.requires_grad_()
        loss = 0.0
        parts = self.settings.micro_batches
        counted = max(1, (targets >= 0).sum().item())
        for few_inputs, few_targets in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            part = self.model.loss_sum(weights, few_inputs, few_targets) / counted
            part.backward()
            loss += part.item()
        for name, master in self.masters.items():
            gradient = weights[name].grad
            master.grad = (gradient if name == EMBEDDING else gradient.bfloat16()).float()
        if self.shape.tied:
            self.masters[EMBEDDING].grad += weights[HEAD].grad.bfloat16().float()
        return loss
