"""How do weights look after NF4? Written again from bitsandbytes' definition
(functional.py, csrc/kernels.cu), which is a package too large to ask for."""

import torch

BLOCK, SCALES = 64, 256
NUMBERS = torch.tensor(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ]
)


def dynamic_numbers():
    numbers = [0.0, 1.0]
    for exponent in range(7):
        bounds = torch.linspace(0.1, 1, 2**exponent + 1)
        means = 10.0 ** (exponent - 6) * ((bounds[:-1] + bounds[1:]) / 2)
        numbers += means.tolist() + (-means).tolist()
    return torch.tensor(sorted(numbers))


def nearest(values, numbers):
    return numbers[(values[..., None].double() - numbers.double()).abs().argmin(-1)]


def padded(values, multiple):
    return torch.nn.functional.pad(values, (0, -values.numel() % multiple))


def decoded(weight):
    """The bf16 numbers of one linear layer's weights after they were coded."""
    values = weight.float().flatten()
    blocks = padded(values, BLOCK).view(-1, BLOCK)
    largest = blocks.abs().amax(1)
    mean = largest.double().mean().float()
    above = padded(largest - mean, SCALES)
    count = largest.numel()
    groups = above.view(-1, SCALES).clone()
    groups.view(-1)[count:] = 0
    most = groups.abs().amax(1, keepdim=True)
    inverse = torch.where(most > 0, 1 / most, torch.zeros(()))
    scales = (nearest(groups * inverse, dynamic_numbers()) * most).flatten()[:count] + mean
    near = nearest(blocks * (1 / largest.clamp(min=1e-38))[:, None], NUMBERS)
    return (near * scales[:, None]).flatten()[: values.numel()].bfloat16().view(weight.shape)


if __name__ == "__main__":  # where bitsandbytes is installed: do both say the same?
    from bitsandbytes.functional import dequantize_4bit, quantize_4bit

    torch.manual_seed(1)
    for shape in [(96, 64), (300, 200), (512, 1024)]:
        weight = (torch.randn(shape) * 0.02).bfloat16()
        theirs = dequantize_4bit(*quantize_4bit(weight, compress_statistics=True, quant_type="nf4"))
        print(shape, int((decoded(weight) != theirs).sum()), "of", weight.numel(), "differ")
