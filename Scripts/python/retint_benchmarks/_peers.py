"""Measures one framework on one case, in its own process.

    python -m retint_benchmarks._peers PEER NETWORK MODE BATCH SIZE THREADS

NETWORK is one of retint's, or an ONNX file of fixed shapes, which has its own batch and size.
Prints a line when ready. For each line `SECONDS` on standard input it runs for about that long and
prints a JSON object: the seconds of each run, and the process's peak memory.
"""

import contextlib
import json
import os
import resource
import sys
import tempfile
import time
import warnings

from retint_reference import networks

warnings.filterwarnings("ignore")


def network(name):
    """The PyTorch module, with random weights."""
    import torch

    torch.manual_seed(0)
    return networks.factory(name)()


def lightness(batch, size):
    import torch

    return torch.from_numpy(values((batch, 1, size, size)))


def values(shape):
    """Values of the range of lightness: some networks are slower on others."""
    import numpy

    return numpy.random.default_rng(0).random(shape, numpy.float32) * 100


def onnx_file(name, batch, size):
    if name.endswith(".onnx"):
        return name
    import torch

    path = os.path.join(tempfile.mkdtemp(), "network.onnx")
    with contextlib.redirect_stdout(sys.stderr):
        torch.onnx.export(
            network(name).eval(), (lightness(batch, size),), path, input_names=["input"],
            output_names=["ab"], dynamo=False, opset_version=17,
        )
    return path


def torch_inference(name, batch, size, kind):
    import torch

    model = network(name).eval().to(memory_format=torch.channels_last)
    x = lightness(batch, size).contiguous(memory_format=torch.channels_last)
    if kind == "torch-compile":
        model = torch.compile(model)
    bfloat16 = kind == "torch-bf16"

    def run():
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            model(x)

    return run


def torch_training(name, batch, size, kind):
    """Forward, L2 loss, backward, Adam: the step that `retint benchmark` measures."""
    import torch

    model = network(name).train().to(memory_format=torch.channels_last)
    x = lightness(batch, size).contiguous(memory_format=torch.channels_last)
    target = torch.rand(batch, 2, size, size)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    forward = torch.compile(model) if kind == "torch-compile" else model
    bfloat16 = kind == "torch-bf16"

    def run():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            output = forward(x)
            output = output[-1] if isinstance(output, tuple) else output
            loss = torch.nn.functional.mse_loss(output.float() / 110, target)
        loss.backward()
        optimizer.step()

    return run


def onnxruntime_inference(name, batch, size, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        onnx_file(name, batch, size), options, providers=["CPUExecutionProvider"]
    )
    feed = {value.name: values(value.shape) for value in session.get_inputs()}
    return lambda: session.run(None, feed)


def openvino_inference(name, batch, size, threads, precision):
    import openvino

    core = openvino.Core()
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": precision,
        "PERFORMANCE_HINT": "LATENCY",
    }
    model = core.read_model(onnx_file(name, batch, size))
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    feed = {index: values(port.shape) for index, port in enumerate(model.inputs)}
    return lambda: request.infer(feed)


def make(peer, name, mode, batch, size, threads):
    import torch

    torch.set_num_threads(threads)
    if mode == "training":
        return torch_training(name, batch, size, peer)
    if peer == "onnxruntime":
        return onnxruntime_inference(name, batch, size, threads)
    if peer.startswith("openvino"):
        precision = {"openvino": "f32"}.get(peer, peer.removeprefix("openvino-"))
        return openvino_inference(name, batch, size, threads, precision)
    return torch_inference(name, batch, size, peer)


def main(peer, name, mode, batch, size, threads):
    run = make(peer, name, mode, int(batch), int(size), int(threads))
    for _ in range(2):
        run()
    print("ready", flush=True)
    for line in sys.stdin:
        times, end = [], time.perf_counter() + float(line)
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"seconds": times, "peak_bytes": peak}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
