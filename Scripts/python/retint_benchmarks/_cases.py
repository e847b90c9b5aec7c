"""The measured cases: network, inference or training, batch and size."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    network: str
    mode: str
    batch: int
    size: int

    @property
    def name(self):
        return f"{self.network} {self.mode}, {self.batch} × {self.size}²"


# A network that retint runs as a package of coremltools, since it has no such architecture.
PACKAGED = "mobilenetv2-unet"
LARGE = ("eccv16", "siggraph17", "class-unet")
MOBILE = ("mobile-unet", "lite-unet", "lite-class-unet", "rep-unet", "pico-unet", PACKAGED)

CASES = [
    *(Case(network, "inference", 1, 256) for network in LARGE + MOBILE),
    *(Case(network, "inference", 1, 128) for network in MOBILE),
    *(Case(network, "inference", 8, 256) for network in ("eccv16", "siggraph17", "mobile-unet")),
    *(Case(network, "training", 4, 128) for network in ("eccv16", "siggraph17", "mobile-unet")),
    Case("mobile-unet", "training", 16, 128),
]

# The networks of which the time on each number of threads is measured.
THREADED = ("eccv16", "class-unet", "mobile-unet", "lite-class-unet")

# Sides of the images on which the time per pixel is measured.
SCALING = [128, 256, 512, 1024]

# The precision that each framework computes in; ratios are reported per precision.
PEERS = {
    "torch": "float32",
    "torch-compile": "float32",
    "onnxruntime": "float32",
    "openvino": "float32",
    "torch-bf16": "bfloat16",
    "openvino-bf16": "bfloat16",
    "openvino-f16": "float16",
}
TRAINERS = ("torch", "torch-compile", "torch-bf16")


def takes_part(peer, case):
    """Whether a framework is measured on a case.

    Only PyTorch trains. Formats of 16 bits run single images only: on CPUs without them a large
    batch takes minutes.
    """
    if case.mode == "training":
        return peer in TRAINERS
    return PEERS[peer] == "float32" or case.batch == 1
