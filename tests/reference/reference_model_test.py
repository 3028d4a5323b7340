"""Is the reference right? The same logits and gradients as transformers' own classes, in fp32."""

import tempfile
import unittest

import torch

from model_folders import MODELS, random_model
from reference_model import ReferenceModel, read_shape

# fp32 rounds to 6e-8; three layers of sums over up to 112 elements stay well below this.
TOLERANCE = 1e-5


def relative_error(actual, expected):
    return ((actual - expected).norm() / expected.norm()).item()


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
        weights = {k: w.detach().clone().requires_grad_() for k, w in theirs.named_parameters()}
        if ours.shape.tied:
            weights["lm_head.weight"] = weights["model.embed_tokens.weight"]

        expected = theirs(inputs).logits
        actual = ours.logits(weights, inputs)
        self.assertLess(relative_error(actual, expected), TOLERANCE)

        ours.loss_sum(weights, inputs, targets).backward()
        torch.nn.functional.cross_entropy(
            expected.flatten(0, 1), targets.flatten(), reduction="sum"
        ).backward()
        for key, parameter in theirs.named_parameters():
            error = relative_error(weights[key].grad, parameter.grad)
            self.assertLess(error, TOLERANCE, f"gradient of {key}")

    def test_logits_and_gradients_are_those_of_transformers(self):
        for name in MODELS:
            with self.subTest(name):
                self.compare(name)


if __name__ == "__main__":
    unittest.main()
