"""Is the reference right? The same logits and gradients as transformers' own classes, in fp32."""

import tempfile
import unittest

import torch

from model_folders import MODELS, random_model
from reference_model import EXPERT_NAMES, ReferenceModel, read_shape

# fp32 rounds to 6e-8; three layers of sums over up to 112 elements stay well below this.
TOLERANCE = 1e-5


def relative_error(actual, expected):
    return ((actual - expected).norm() / expected.norm()).item()


def stored_parts(name, weight, family):
    """A parameter of transformers' class as files have it: experts by themselves."""
    if ".experts." not in name:
        return {name: weight}
    block = "block_sparse_moe" if family == "mixtral" else "mlp"
    prefix = name.split(".mlp.")[0] + f".{block}.experts."
    gate, up, down = EXPERT_NAMES[block]
    if name.endswith("down_proj"):
        return {f"{prefix}{e}.{down}.weight": part for e, part in enumerate(weight)}
    return {
        f"{prefix}{e}.{which}.weight": half
        for e, part in enumerate(weight)
        for which, half in zip((gate, up), part.chunk(2))
    }


def stored_weights(model, read):
    """By their names in files; `read` takes a parameter's values or gradients."""
    family, weights = model.config.model_type, {}
    for name, parameter in model.named_parameters():
        if family == "mixtral":
            name = name.replace(".mlp.gate.", ".block_sparse_moe.gate.")
        weights.update(stored_parts(name, read(parameter), family))
    return weights


class ReferenceModelTest(unittest.TestCase):
    def compare(self, name):
        theirs = random_model(name).float()
        theirs.config._attn_implementation = "eager"
        with tempfile.TemporaryDirectory() as folder:
            theirs.config.save_pretrained(folder)
            ours = ReferenceModel(read_shape(folder))
        tokens = torch.randint(
            ours.shape.vocabulary, (2, 34), generator=torch.Generator().manual_seed(2)
        )
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        values = stored_weights(theirs, lambda parameter: parameter.detach())
        weights = {k: w.clone().requires_grad_() for k, w in values.items()}
        if ours.shape.tied:
            weights["lm_head.weight"] = weights["model.embed_tokens.weight"]

        expected = theirs(inputs).logits
        actual = ours.logits(weights, inputs)
        self.assertLess(relative_error(actual, expected), TOLERANCE)

        ours.loss_sum(weights, inputs, targets).backward()
        torch.nn.functional.cross_entropy(
            expected.flatten(0, 1), targets.flatten(), reduction="sum"
        ).backward()
        for key, gradient in stored_weights(theirs, lambda parameter: parameter.grad).items():
            if not gradient.any():  # an expert without tokens
                self.assertFalse(weights[key].grad.any(), f"gradient of {key}")
                continue
            error = relative_error(weights[key].grad, gradient)
            self.assertLess(error, TOLERANCE, f"gradient of {key}")

    def test_logits_and_gradients_are_those_of_transformers(self):
        for name in MODELS:
            with self.subTest(name):
                self.compare(name)


if __name__ == "__main__":
    unittest.main()
