"""What each exporter writes for a module whose outputs are a tuple; needs PyTorch.

coremltools and coreai-torch are imported where they are used: an environment has but one of them.
"""

import contextlib
import os
import pathlib

import h5py
import numpy
import torch


def names(prefix, values):
    return [f"{prefix}{index}" for index in range(len(values))]


def write_reference(path, inputs, outputs, input_names=None):
    """Inputs and expected outputs as `retint verify --reference` takes them."""
    with h5py.File(path, "w") as file:
        for name, value in zip(input_names or names("input", inputs), inputs):
            file[f"inputs/{name}"] = value.numpy()
        for name, value in zip(names("output", outputs), outputs):
            file[f"outputs/{name}"] = value.float().numpy()


def core_ml(module, inputs, path, target, precision):
    """A package through TorchScript."""
    save_package(traced(module, inputs), len(module(*inputs)), path, target, precision,
                 [tensor_type(name, value, value.shape)
                  for name, value in zip(names("input", inputs), inputs)])


def core_ml_of_any_size(module, inputs, path, target, precision):
    """A package through TorchScript, whose inputs have 1 to 4 times the sizes of the example."""
    import coremltools

    def sizes(value):
        return coremltools.Shape([
            coremltools.RangeDim(1, 4 * size, default=size) for size in value.shape])
    save_package(traced(module, inputs), len(module(*inputs)), path, target, precision,
                 [tensor_type(name, value, sizes(value))
                  for name, value in zip(names("input", inputs), inputs)])


def core_ml_from_export(module, inputs, path, target, precision):
    """A package through torch.export; returns the names of its inputs."""
    exported = torch.export.export(module, inputs, strict=False).run_decompositions({})
    save_package(exported, len(module(*inputs)), path, target, precision)
    return list(exported.graph_signature.user_inputs)


def traced(module, inputs):
    return torch.jit.trace(module, inputs, check_trace=False)


def tensor_type(name, value, shape):
    import coremltools
    return coremltools.TensorType(
        name, shape, dtype=numpy.float32 if value.is_floating_point() else numpy.int32)


def save_package(program, output_count, path, target, precision, inputs=()):
    import coremltools
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        package = coremltools.convert(
            program, **({"inputs": inputs} if inputs else {}),
            outputs=[coremltools.TensorType(f"output{index}", dtype=numpy.float32)
                     for index in range(output_count)],
            minimum_deployment_target=getattr(coremltools.target, target),
            compute_precision=getattr(coremltools.precision, precision),
            convert_to="mlprogram", skip_model_load=True)
    package.save(str(path))


def core_ml_quantized(package, path, dtype):
    """coremltools' own compression of a package: symmetric, a scale per channel."""
    import coremltools
    import coremltools.optimize.coreml as compression
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        model = coremltools.models.MLModel(str(package), skip_model_load=True)
        configuration = compression.OptimizationConfig(compression.OpLinearQuantizerConfig(
            mode="linear_symmetric", dtype=dtype, granularity="per_channel"))
        quantized = compression.linear_quantize_weights(model, configuration)
    quantized.save(str(path))


def onnx(module, inputs, path, dynamo, opset=None):
    """An ONNX file through TorchScript or torch.export."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        torch.onnx.export(
            module, inputs, str(path), dynamo=dynamo, opset_version=opset or (18 if dynamo else 17),
            input_names=names("input", inputs), output_names=names("output", module(*inputs)),
            **({"external_data": False, "verbose": False} if dynamo else {}))


def ai_model(module, inputs, path):
    """An .aimodel through torch.export; returns the names of its inputs."""
    from coreai_torch import TorchConverter, get_decomp_table
    exported = torch.export.export(module, inputs, strict=False).run_decompositions(
        get_decomp_table())
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        TorchConverter().add_exported_program(exported).to_coreai().save_asset(pathlib.Path(path))
    return list(exported.graph_signature.user_inputs)
