"""How far are a layer's gradients off with each way of casting to FP8?

Trains a small model in fp32 on bytes of Python sources, then computes the gradients of its linear layers from operands
that were cast to FP8 in several ways, and compares them with those of fp32.
usage: recipes.py FOLDER_OF_SOURCES [STEPS]
"""

import pathlib
import sys

import torch
import torch.nn.functional as F

LAYERS, HIDDEN, WIDTH, HEADS, BATCH, SEQUENCE = 4, 256, 688, 4, 8, 256
MOST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0}


def batches(folder, generator):
    files = sorted(pathlib.Path(folder).rglob("*.py"))[:400]
    data = torch.frombuffer(bytearray(b"".join(f.read_bytes() for f in files)), dtype=torch.uint8).long()
    while True:
        starts = torch.randint(len(data) - SEQUENCE - 1, (BATCH,), generator=generator)
        rows = torch.stack([data[s : s + SEQUENCE + 1] for s in starts.tolist()])
        yield rows[:, :-1], rows[:, 1:]


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(HIDDEN, 3 * HIDDEN, bias=False)
        self.output = torch.nn.Linear(HIDDEN, HIDDEN, bias=False)
        self.gate_up = torch.nn.Linear(HIDDEN, 2 * WIDTH, bias=False)
        self.down = torch.nn.Linear(WIDTH, HIDDEN, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(F.rms_norm(x, (HIDDEN,))).unflatten(-1, (3 * HEADS, -1)).transpose(1, 2).chunk(3, 1)
        x = x + self.output(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        gate, up = self.gate_up(F.rms_norm(x, (HIDDEN,))).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(256, HIDDEN)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = torch.nn.Linear(HIDDEN, 256, bias=False)

    def loss(self, tokens, targets):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(F.rms_norm(x, (HIDDEN,))).flatten(0, 1), targets.flatten())


def cast(x, kind, by_row, largest=None):
    """The numbers of the codes. The scale is a power of two that leaves the largest number in range."""
    if largest is None:
        largest = x.abs().amax(1, keepdim=True) if by_row else x.abs().amax()
    factor = torch.exp2(torch.floor(torch.log2(MOST[kind] / largest)))
    return (x * factor).clamp(-MOST[kind], MOST[kind]).to(kind).float() / factor


def operands(model, batch):
    """x, W and dy of each linear layer of the model's layers, by name."""
    seen, hooks = {}, []

    def watch(name, module):
        def forward(_, inputs, __):
            seen[name] = [inputs[0].detach().flatten(0, 1), module.weight.detach()]

        def backward(_, __, gradients):
            seen[name].append(gradients[0].flatten(0, 1))

        hooks.extend([module.register_forward_hook(forward), module.register_full_backward_hook(backward)])

    for name, module in model.layers.named_modules():
        if isinstance(module, torch.nn.Linear):
            watch(name, module)
    model.loss(*batch).backward()
    for hook in hooks:
        hook.remove()
    return seen


def error(got, exact):
    return float((got - exact).norm() / exact.norm())


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data = batches(sys.argv[1], torch.Generator().manual_seed(1))
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for step in range(int(sys.argv[2]) if len(sys.argv) > 2 else 300):
        loss = model.loss(*next(data))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f} after {step + 1} steps")
    before, now = operands(model, next(data)), operands(model, next(data))
    print(f"{'gradients':10} {'scales':16} {'dW':>6} {'dx':>6} {'lost':>6} {'clipped':>8}")
    for kind in MOST:
        for scales in ("tensor, current", "row, current", "tensor, delayed"):
            by_row, delayed = scales.startswith("row"), scales.endswith("delayed")
            sums = torch.zeros(4)
            for name, (x, w, dy) in now.items():
                e4m3 = torch.float8_e4m3fn
                old = (before[name][0].abs().amax(), before[name][2].abs().amax()) if delayed else (None, None)
                # A product's rows share no scale with its other operand's: of dW they are the columns of x and dy.
                dy_rows, w_columns = cast(dy, kind, by_row, old[1]), cast(w.T, e4m3, by_row)
                dy_columns = cast(dy.T, kind, by_row, old[1])
                x_columns = cast(x.T, e4m3, by_row, old[0])
                sums += torch.tensor(
                    [
                        error(dy_columns @ x_columns.T, dy.T @ x),
                        error(dy_rows @ w_columns.T, dy @ w),
                        float(((dy_rows == 0) & (dy != 0)).float().mean()),
                        float((dy.abs() > dy_rows.abs().amax()).float().mean()) if delayed else 0.0,
                    ]
                )
            of_w, of_x, lost, clipped = (100 * sums / len(now)).tolist()
            print(f"{str(kind)[13:17]:10} {scales:16} {of_w:5.2f}% {of_x:5.2f}% {lost:5.2f}% {clipped:7.4f}%")


main()
