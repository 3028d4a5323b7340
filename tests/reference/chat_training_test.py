"""Do prepared chats train as with transformers? Ten steps of a tiny Llama by sluice-train, and the
same steps in PyTorch: the losses, and the model that transformers loads."""

import unittest

import torch
import transformers

from chat_data import ChatTest, chat
from reference_step import TrainingSettings, learning_rate_at, rounded_to_bf16
from sluice_train import checkpoint_folder, train


def train_by_transformers(folder, batches, settings):
    """The losses and the model. Masters are fp32; it computes in fp32 with masters rounded to
    bf16."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    masters = {n: torch.nn.Parameter(p.detach().clone()) for n, p in model.named_parameters()}
    decays = [m for n, m in masters.items() if not n.endswith("norm.weight")]
    rest = [m for n, m in masters.items() if n.endswith("norm.weight")]
    optimizer = torch.optim.AdamW(
        [{"params": decays}, {"params": rest, "weight_decay": 0.0}],
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
    )
    losses = []

    def use_masters():
        for name, weight in model.named_parameters():
            weight.data.copy_(rounded_to_bf16(masters[name].detach()))

    for step, (inputs, targets) in enumerate(batches, 1):
        model.zero_grad()
        use_masters()
        logits = model(inputs).logits.flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, targets.flatten(), ignore_index=-1)
        loss.backward()
        losses.append(loss.item())
        for name, weight in model.named_parameters():
            masters[name].grad = weight.grad.clone()
        torch.nn.utils.clip_grad_norm_(masters.values(), settings.max_norm)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate_at(settings, step)
        optimizer.step()
    use_masters()
    return losses, model


class ChatTrainingTest(ChatTest):
    def check_loaded(self, folder, expected):
        """The checkpoint as transformers loads it: tokenizer, config and what the model says."""
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.assertEqual(tokenizer.eos_token, self.tokenizer.eos_token)
        ids = [t.apply_chat_template(chat(2))["input_ids"] for t in (tokenizer, self.tokenizer)]
        self.assertEqual(*ids)
        start, trained = (
            transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
            for path in (self.model, folder)
        )
        for field in ("vocab_size", "hidden_size", "num_hidden_layers", "num_key_value_heads"):
            self.assertEqual(getattr(trained.config, field), getattr(start.config, field), field)
        inputs = torch.tensor([ids[0]])
        with torch.no_grad():
            before, ours, theirs = (m(inputs).logits for m in (start, trained, expected))
        changed = (theirs - before).norm()
        self.assertGreater(changed.item(), 1)
        self.assertLess(((ours - theirs).norm() / changed).item(), 0.01)

    def test_ten_steps_on_chats_are_those_of_transformers(self):
        settings = TrainingSettings(steps=10, warmup_steps=2, epsilon=1e-3)
        run = train(
            self.folder,
            model=self.model,
            load=self.model,
            data=self.prepared(self.chats),
            out=self.folder / "out",
            device="cpu",
            precision="fp32",
            batch=4,
            micro_batch=2,
            seq=24,
            steps=settings.steps,
            learning_rate=settings.learning_rate,
            warmup_steps=settings.warmup_steps,
            beta2=settings.beta2,
            epsilon=settings.epsilon,
            weight_decay=settings.weight_decay,
            max_norm=settings.max_norm,
            state_bytes=12,
            clipping="exact",
        )
        for _, targets in run.batches:
            self.assertTrue(0 < (targets < 0).sum() < targets.numel())
        expected, model = train_by_transformers(self.model, run.batches, settings)
        actual = run.field("loss")
        worst = max(abs(ours - theirs) for ours, theirs in zip(actual, expected, strict=True))
        print(f"losses {actual[0]:.4f} to {actual[-1]:.4f}, at most {worst:.1e} from transformers'")
        self.assertLess(worst, 1e-3)
        self.assertLess(actual[-1], actual[0] - 0.5)
        self.check_loaded(checkpoint_folder(self.folder / "out", settings.steps), model)


if __name__ == "__main__":
    unittest.main()
