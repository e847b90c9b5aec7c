"""Measures PyTorch on a GPU: python3 measure_pytorch.py CASE...

A case is NETWORK:MODE:BATCH:SIZE:KIND, and KIND is eager or graph, and float32, tf32 or bfloat16:
eccv16:training:16:256:eager-bfloat16. Training takes the step that `retint benchmark` measures:
forward pass, L2 loss, backward pass, Adam. Prints a JSON object in a line for each case: the median
of the runs in milliseconds, the peak of the device's memory in MiB, and versions.
"""

import gc
import json
import statistics
import sys
import time

import torch

from retint_reference import networks


def main():
    for case in sys.argv[1:]:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        try:
            print(json.dumps({"case": case} | measure(*case.split(":"))), flush=True)
        except Exception as error:  # The other cases go on.
            print(f"{case}: {type(error).__name__}: {error}", flush=True)
        gc.collect()


def measure(name, mode, batch, size, kind):
    style, arithmetic = kind.split("-")
    torch.manual_seed(0)
    tf32 = arithmetic == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True
    run = step(name, mode, int(batch), int(size), arithmetic == "bfloat16", style == "graph")
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    # Without the memory of cuDNN's trials.
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    if style == "graph":
        run = captured(run)
    seconds = []
    end = time.monotonic() + 2
    while time.monotonic() < end or len(seconds) < 10:
        start = time.monotonic()
        run()
        torch.cuda.synchronize()
        seconds.append(time.monotonic() - start)
    return {
        "milliseconds": 1e3 * statistics.median(seconds),
        "peak_mib": torch.cuda.max_memory_allocated() / 2**20,
        "torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}


def step(name, mode, batch, size, bfloat16, is_captured):
    model = networks.factory(name)().cuda().to(memory_format=torch.channels_last)
    x = (100 * torch.rand(batch, 1, size, size, device="cuda")).contiguous(
        memory_format=torch.channels_last)
    autocast = torch.autocast(
        "cuda", torch.bfloat16, enabled=bfloat16, cache_enabled=not is_captured)
    if mode == "inference":
        model.eval()

        def infer():
            with torch.no_grad(), autocast:
                model(x)

        return infer
    model.train()
    target = torch.rand(batch, 2, size, size, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), fused=True, capturable=is_captured)

    def train():
        optimizer.zero_grad(set_to_none=not is_captured)
        with autocast:
            output = model(x)
            output = output[-1] if isinstance(output, tuple) else output
            loss = torch.nn.functional.mse_loss(output.float() / 110, target)
        loss.backward()
        optimizer.step()

    return train


def captured(run):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


if __name__ == "__main__":
    main()
