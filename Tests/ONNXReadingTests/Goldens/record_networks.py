"""Records networks as PyTorch's two exporters write them, with what PyTorch computes.

    .venv/bin/pip install onnxscript==0.7.2
    .venv/bin/python Tests/ONNXReadingTests/Goldens/record_networks.py

writes networks.json: parts of colorizers with the outputs that ONNX Runtime computes, and
training.json: networks with gradients, and with running statistics after a batch.
"""

import base64
import io
import json
import pathlib
import warnings

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

import cases

warnings.filterwarnings("ignore")


class Attention(nn.Module):
    """Self-attention over the pixels, with heads and a position bias."""

    def __init__(self, channels=8, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)
        self.bias = nn.Parameter(torch.randn(heads, 12, 12))

    def forward(self, x):
        n, c, h, w = x.shape
        y = x.flatten(2).transpose(1, 2)
        q, k, v = self.qkv(y).reshape(n, h * w, 3, self.heads, c // self.heads).permute(
            2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5 + self.bias).softmax(-1)
        y = self.out((weights @ v).transpose(1, 2).reshape(n, h * w, c))
        return y.transpose(1, 2).reshape(n, c, h, w)


class ScaledAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        y = self.norm(x.flatten(2).transpose(1, 2))
        return x + self.attention(y, y, y, need_weights=False)[0].transpose(1, 2).reshape(x.shape)


class UNet(nn.Module):
    """Down and up again, with padding to even sizes and a skip connection."""

    def __init__(self, norm):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, 6, 3, 2, 1, bias=False), norm(6), nn.LeakyReLU(0.2),
            nn.Conv2d(6, 6, 3, padding=2, dilation=2), nn.ReLU(inplace=True))
        self.up = nn.Sequential(nn.ConvTranspose2d(6, 4, 4, 2, 1), norm(4), nn.ReLU())
        self.last = nn.Conv2d(5, 2, 1)

    def forward(self, x):
        y = self.up(self.down(x))
        y = F.pad(y, (0, x.shape[3] - y.shape[3], 0, x.shape[2] - y.shape[2]), mode="replicate")
        return torch.tanh(self.last(torch.cat([x, y], 1)))


class Eccv(nn.Module):
    """The end of Zhang et al.'s colorizer: probabilities of colors, and their mean."""

    def __init__(self):
        super().__init__()
        self.classes = nn.Conv2d(3, 9, 1)
        self.colors = nn.Conv2d(9, 2, 1, bias=False)

    def forward(self, x):
        ab = self.colors(F.softmax(self.classes((x - 50.0) / 100.0), dim=1))
        return F.interpolate(ab, scale_factor=4, mode="bilinear", align_corners=False) * 110.0


class Shuffle(nn.Module):
    """DeOldify's way to enlarge."""

    def __init__(self):
        super().__init__()
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 16, 1))
        self.blur = nn.AvgPool2d(2, stride=1)

    def forward(self, x):
        return self.blur(F.pad(F.pixel_shuffle(F.relu(self.conv(x)), 2), (1, 0, 1, 0), "reflect"))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def same_size(mode, **options):
    return Function(lambda x: F.interpolate(x, size=(7, 9), mode=mode, **options))


def split_and_join(x):
    a, b = x.chunk(2, dim=1)
    gated = torch.stack([a * torch.sigmoid(b), a.flip(3)], 1).sum(1)
    return gated + x.mean((2, 3), keepdim=True)[:, :1]


def masked(x):
    mask = torch.ones(6, 6).tril()
    y = torch.where(x[..., :6] > 0, x[..., :6], torch.zeros_like(x[..., :6]) - 1)
    return (y @ mask).masked_fill(mask == 0, -10.0).clamp(-5, 5)


def windows(x):
    """Windows of a shifted image, as Swin's blocks use them."""
    n, c, h, w = x.shape
    y = torch.roll(x, (-1, -1), (2, 3)).permute(0, 2, 3, 1)
    y = y.view(n, h // 2, 2, w // 2, 2, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, c)
    y = y @ y.transpose(1, 2)
    return y.reshape(n, h // 2, w // 2, 16)


def norms(x):
    y = x / (x.norm(dim=1, keepdim=True) + 1e-6)
    return (y - y.mean(1, keepdim=True)) / torch.sqrt(y.var(1, keepdim=True, unbiased=False) + 1e-5)


def networks():
    norm_names = {
        "batch": nn.BatchNorm2d, "instance": lambda n: nn.InstanceNorm2d(n, affine=True),
        "group": lambda n: nn.GroupNorm(2, n)}
    for name, norm in norm_names.items():
        yield f"U-Net with {name} norm", UNet(norm), (2, 1, 6, 8)
    yield "U-Net of odd sizes", UNet(nn.BatchNorm2d), (1, 1, 7, 5)
    yield "attention", Attention(), (1, 8, 3, 4)
    yield "multi-head attention", ScaledAttention(), (1, 8, 3, 4)
    yield "color classes", Eccv(), (1, 3, 3, 4)
    yield "pixel shuffle", Shuffle(), (1, 3, 3, 4)
    yield "nearest", same_size("nearest"), (1, 2, 4, 5)
    yield "bilinear", same_size("bilinear", align_corners=False), (1, 2, 4, 5)
    yield "bilinear, aligned", same_size("bilinear", align_corners=True), (1, 2, 4, 5)
    yield "bicubic", same_size("bicubic", align_corners=False), (1, 2, 4, 5)
    yield "bilinear to a smaller size with antialiasing", Function(
        lambda x: F.interpolate(x, size=(3, 5), mode="bilinear", antialias=True)), (1, 2, 8, 11)
    yield "twice the size", Function(lambda x: F.interpolate(x, scale_factor=2)), (1, 2, 4, 5)
    yield "chunks", Function(split_and_join), (1, 4, 3, 6)
    yield "masks", Function(masked), (1, 2, 6, 7)
    yield "windows", Function(windows), (1, 3, 4, 6)
    yield "norms", Function(norms), (1, 4, 3, 2)
    yield "adaptive pools", Function(
        lambda x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_avg_pool2d(x, (2, 3)).amax((2, 3), True)
    ), (1, 2, 4, 6)
    yield "pools", Function(
        lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True)
        + F.avg_pool2d(x, 3, 2, 1, ceil_mode=True)), (1, 2, 8, 6)
    yield "activations", nn.Sequential(
        nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.Mish(), nn.ELU(), nn.SELU(),
        nn.Hardswish(), nn.Hardsigmoid(), nn.PReLU(3), nn.Softplus(), nn.ReLU6(), nn.Hardtanh(),
        nn.CELU(), nn.Softsign(), nn.GLU(dim=2)), (1, 3, 4, 5)
    yield "einsum", Function(
        lambda x: torch.einsum("nchw,ncw->nhc", x, x.mean(2))), (1, 3, 4, 5)
    yield "pads", Function(
        lambda x: F.pad(F.pad(F.pad(x, (1, 2, 0, 1), "reflect"), (1, 0, 2, 1)), (2, 1, 0, 1),
                        "circular")), (1, 2, 4, 5)
    yield "slices", Function(
        lambda x: torch.cat([x[:, :, ::2, 1:], x[:, :, 1::2, :-1]], 1)[:, [3, 0, 1]]), (1, 2, 4, 5)
    yield "unfold", Function(lambda x: F.pixel_unshuffle(x, 2).cumsum(1)), (1, 2, 4, 6)
    yield "linear", nn.Sequential(nn.Flatten(), nn.Linear(24, 7), nn.BatchNorm1d(7), nn.Linear(7, 3)
                                  ), (2, 2, 3, 4)
    yield "rows", nn.Sequential(nn.Conv1d(2, 4, 3, padding=1), nn.BatchNorm1d(4), nn.ReLU(),
                                nn.ConvTranspose1d(4, 2, 4, 2, 1)), (1, 2, 9)


def exported(module, x, dynamo, opset, training=False):
    """The model that an exporter writes."""
    file = io.BytesIO()
    options = {} if dynamo else {"do_constant_folding": not training}
    if training:
        options["training"] = torch.onnx.TrainingMode.PRESERVE
    torch.onnx.export(
        module, (x,), file, dynamo=dynamo, opset_version=opset, input_names=["x"],
        output_names=["y"], **options)
    model = onnx.load_from_string(file.getvalue())
    del model.metadata_props[:]
    del model.graph.value_info[:]
    for node in model.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    for info in [*model.graph.input, *model.graph.output, *model.graph.initializer]:
        del info.metadata_props[:]
    model.graph.ClearField("doc_string")
    return model


def settle(module, shape):
    """Gives running statistics values that differ."""
    generator = torch.Generator().manual_seed(3)
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm2d, nn.BatchNorm1d)):
            part.running_mean.uniform_(-0.5, 0.5, generator=generator)
            part.running_var.uniform_(0.5, 2, generator=generator)
            nn.init.uniform_(part.weight, 0.5, 1.5, generator=generator)
            nn.init.uniform_(part.bias, -0.5, 0.5, generator=generator)
    return torch.rand(shape, generator=generator) * 2 - 1


def record_networks():
    recorded = []
    for name, module, shape in networks():
        module.eval()
        x = settle(module, shape)
        for exporter, dynamo, opset in (("TorchScript", False, 17), ("dynamo", True, 18)):
            try:
                model = exported(module, x, dynamo, opset)
            except Exception as error:
                print(f"{name}: {exporter} cannot export it: {str(error).splitlines()[0]}")
                continue
            one = cases.case(f"{name} ({exporter})", model, {"x": x.numpy()})
            output = np.array(one["outputs"]["y"]["values"], np.float32)
            expected = module(x).detach().numpy()
            np.testing.assert_allclose(output, expected.reshape(-1), rtol=2e-3, atol=2e-4)
            recorded.append(one)
    cases.write("networks.json", recorded)


def training_networks():
    yield "batch norm", UNet(nn.BatchNorm2d), (3, 1, 6, 8)
    yield "group norm", UNet(lambda n: nn.GroupNorm(2, n)), (2, 1, 6, 8)
    yield "instance norm", UNet(lambda n: nn.InstanceNorm2d(n, affine=True)), (2, 1, 6, 8)
    yield "attention", ScaledAttention(), (2, 8, 3, 4)
    yield "perceptron", nn.Sequential(
        nn.Flatten(), nn.Linear(24, 7), nn.BatchNorm1d(7), nn.PReLU(7), nn.Linear(7, 3)
    ), (4, 2, 3, 4)


def record_training():
    """The mean square of the output, its gradients, and statistics after the batch.

    The model is exported for inference without folding, so that its weights have their names; what
    is recorded is the module in training mode.
    """
    recorded = []
    for name, module, shape in training_networks():
        x = settle(module, shape)
        module.eval()
        model = exported(module, x, False, 17, training=True)
        module.train()
        loss = (module(x) ** 2).mean()
        loss.backward()
        recorded.append({
            "name": name, "model": base64.b64encode(model.SerializeToString()).decode(),
            "input": cases.tensor(x.numpy()), "loss": loss.item(),
            "gradients": {key: cases.tensor(value.grad.numpy())
                          for key, value in module.named_parameters()},
            "statistics": {key: cases.tensor(value.numpy()) for key, value in module.named_buffers()
                           if "running" in key},
        })
    text = ",\n".join(json.dumps(one, separators=(",", ":")) for one in recorded)
    (pathlib.Path(__file__).parent / "training.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    torch.manual_seed(5)
    torch.set_grad_enabled(False)
    record_networks()
    torch.set_grad_enabled(True)
    record_training()
