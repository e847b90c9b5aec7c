"""YAML files for train, search and quantize with absurd values, structures and paths."""

import retint_tool

from .base_files import CONFIGURATION
from .case import (
    ACCEPTED, Case, DATA, FAILED, FINE, REFUSED, Rule, USAGE, label, named_once)
from .numbers import TEXTS

TRAIN = ("train", "--config", "file.yaml", "--dry-run")
SEARCH = ("search", "--config", "file.yaml", "-o", "found", "--candidate", "width=0.0625",
          "--candidate", "width=0.125", "--steps", "2", "--rounds", "1", "--size", "32")
QUANTIZE = ("quantize", "base/iOS18.mlpackage", "--config", "file.yaml", "-o", "new.mlpackage")
# Some values are in range; a training with them may also fail, for instance by diverging.
TRAINS = Rule((FINE, FAILED, DATA))


def _file(content):
    def write(folder):
        data = content if isinstance(content, bytes) else content.encode("utf8", "surrogatepass")
        (folder / "file.yaml").write_bytes(data)

    return write


def _without(*keys):
    """The healthy configuration without some of its lines."""
    return "".join(
        line + "\n" for line in CONFIGURATION.splitlines() if line.split(":")[0] not in keys)


def _keys():
    """The keys of a configuration, with their sections, as `train --defaults` lists them."""
    section = ""
    for line in retint_tool.run("train", "--defaults").splitlines():
        key, _, rest = line.partition(":")
        if not rest:
            section = key + "."
        else:
            if not line.startswith(" "):
                section = ""
            yield section + key.strip()


def _configuration(key, text):
    """The healthy configuration with one key set to a plain scalar."""
    section, _, name = key.rpartition(".")
    if not section:
        return _without(key) + f"{key}: {text}\n"
    if section == "data":
        values = {"train": "base/photos", "validation": "base/photos", "crop": "32", name: text}
        pairs = "".join(f"  {key}: {value}\n" for key, value in values.items())
        return _without("data") + f"data:\n{pairs}"
    return CONFIGURATION + f"{section}:\n  {name}: {text}\n"




def _values():
    """Each key with some of the numbers, so that all numbers meet many keys."""
    for index, key in enumerate(_keys()):
        for step in range(4):
            text = TEXTS[(index * 7 + step * 5) % len(TEXTS)]
            command = TRAIN if step < 3 else (*TRAIN, "--set", f"{key}={text}")
            content = _configuration(key, text) if step < 3 else CONFIGURATION
            rule = TRAINS if step < 3 else Rule((FINE, FAILED, USAGE, DATA))
            yield f"value/{key}={label(text)}", rule, command, content
        for content in ("[1, 2]", "{a: 1}", "&a [*a]", "!!binary aGVsbG8=", '"x\\e[31m\\nFORGED"'):
            if (index + len(content)) % 5 < 2:
                yield f"type/{key}={label(content)}", TRAINS, TRAIN, _configuration(key, content)


def _bomb(count, width):
    lines = ["a0: &a0 [x, x]"]
    for index in range(1, count):
        lines.append(f"a{index}: &a{index} [" + ", ".join([f"*a{index - 1}"] * width) + "]")
    return "\n".join(lines)


def _merges(count):
    lines = ["a0: &a0 {x: 1}"]
    for index in range(1, count):
        lines.append(f"a{index}: &a{index}\n  <<: [*a{index - 1}, *a{index - 1}]\n  x{index}: 1")
    return "\n".join(lines)


def _key_bomb(count):
    """Aliases as keys: comparing or hashing them visits everything below."""
    lines = ["- &a0 [x, x]"]
    for index in range(1, count):
        lines.append(f"- &a{index} {{? *a{index - 1} : *a{index - 1}}}")
    return "\n".join(lines)


STRUCTURES = {
    "empty": "", "null": "null", "list": "[]", "scalar": "x", "comment": "#", "tab": "\ta: 1",
    "two-documents": "a: 1\n---\nb: 2\n", "bomb-9": _bomb(9, 9), "bomb-30": _bomb(30, 9),
    "bomb-1000": _bomb(1000, 2), "merges-30": _merges(30), "key-bomb-10": _key_bomb(10),
    "key-bomb-30": _key_bomb(30), "key-bomb-300": _key_bomb(300), "cycle": "&a [*a]",
    "key-cycle": "&a {? *a : 1}", "value-cycle": "a: &a {b: *a}", "deep-list-1000": "[" * 1000,
    "deep-list-100000": "[" * 100_000, "deep-pairs": "[" * 5000 + "]" * 5000,
    "deep-pairs-200000": "[" * 200_000 + "]" * 200_000, "deep-map": "{a: " * 50_000,
    "deep-block": "".join(" " * i + "a:\n" for i in range(1300)),
    "deep-dashes": "- " * 100_000 + "x", "questions": "? " * 100_000 + "x",
    "twice": "steps: 1\nsteps: 2\n", "many-keys": "".join(f"k{i}: 1\n" for i in range(50_000)),
    "many-same-keys": "a: 1\n" * 50_000,
    # One character, whatever is counted.
    "marks-key": "a" + "\u0301" * 450_000 + ": 1", "marks-value": "steps: a" + "\u0301" * 450_000,
    "latin-path": b"data: {train: base/photos, validation: caf\xe9}\noutput: run\nsteps: 4\n",
    "long-key": "a" * 900_000 + ": 1", "long-value": "steps: " + "9" * 900_000,
    "too-large": "#" * 2_000_000, "nul": "steps: \0", "binary": bytes(range(256)),
    "latin": b"output: \xff\xfe", "utf16": "steps: 4\n".encode("utf16"), "bom": "\ufeffsteps: 4\n",
    "escape-key": '"x\\e[31m\\nFORGED": 1', "escape-value": 'steps: "x\\e[31m\\nFORGED"',
    "control-key": "x\x9by: 1", "line-separator": '"a\\Lb\\P": 1', "tag": "!<tag:x> {a: 1}",
    "directive": "%YAML 9.9\n---\na: 1", "tag-directive": "%TAG ! " + "x" * 100_000 + "\n---\na: 1",
    "anchor": "&" + "a" * 500_000 + " x", "unknown-alias": "a: *nowhere",
    "complex-key": "? [a, b]\n: 1",
    "null-key": "~: 1", "empty-key": '"": 1', "number-key": "1e400: 1", "dots": "a.b.c: 1",
    "surrogate": '"\\ud800": 1', "bad-escape": '"\\x": 1', "block-indent": "a: |9\n x",
    "block-indent-0": "a: |0\n x", "merge": "<<: {steps: 1}", "merge-text": "<<: x",
}


def _structures():
    for name, content in STRUCTURES.items():
        for command in (TRAIN, QUANTIZE, SEARCH):
            legitimate = name in ("empty", "null", "comment", "bom", "directive") or (
                command is QUANTIZE)
            rule = Rule((FINE, USAGE, DATA)) if legitimate else REFUSED
            yield f"structure/{command[0]}/{name}", rule, command, content


def _paths():
    """Configurations whose paths lead to something odd."""
    keys = ["data.train", "data.validation", "data.cutouts", "init", "output",
            "distillation.teacher", "loss.perceptual_network"]
    paths = ["/dev/null", "/dev/zero", "/dev/full", "nowhere", "file.yaml", "base", "base/model.h5",
             "base/iOS15.mlpackage", "base/pack.h5", '"a\\0b"', "a" * 5000, '"x\\nFORGED\\e[31m"',
             "/",
             "base/video.y4m", "/proc/self/mem"]
    for key in keys:
        for index, path in enumerate(paths):
            if path == "/" and key.startswith("data"):
                continue
            yield f"path/{key}={label(path)}", TRAINS, TRAIN, _configuration(key, path)


SCHEMES = {
    "block_size": TEXTS, "group_size": TEXTS, "weight_threshold": TEXTS, "target_sparsity": TEXTS,
    "nbits": TEXTS, "dtype": TEXTS[:3], "mode": TEXTS[:3], "granularity": TEXTS[:3],
    "dim": TEXTS[:5],
    "cluster_dim": TEXTS[:5],
    "n_m_ratio": ["[0, 0]", "[-1, 4]", "[4, -1]", "[2147483648, 4]", "[9223372036854775807, 1]",
                  "[1, 9223372036854775807]", "[5, 4]", "[]", "[1]", "[1, 2, 3]", "[1e400, nan]",
                  "[-9223372036854775808, -1]", "[1, 0]"],
}


def _quantizations():
    scheme = {"block_size": "OpLinearQuantizerConfig", "group_size": "OpPalettizerConfig",
              "nbits": "OpPalettizerConfig", "target_sparsity": "OpMagnitudePrunerConfig",
              "n_m_ratio": "OpMagnitudePrunerConfig", "dim": "OpMagnitudePrunerConfig"}
    extra = {"block_size": {"granularity": "per_block"},
             "group_size": {"granularity": "per_grouped_channel", "nbits": "4"}}
    for key, values in SCHEMES.items():
        for text in values:
            if not text.strip():
                text = '"' + text + '"'
            kind = scheme.get(key, "OpLinearQuantizerConfig")
            fields = {"weight_threshold": "0", **extra.get(key, {}), key: text}
            body = "".join(f"  {name}: {value}\n" for name, value in fields.items())
            yield (f"quantize/{key}={label(text)}", Rule((FINE, USAGE, DATA)), QUANTIZE,
                   f"config_type: {kind}\nglobal_config:\n{body}")
    for name, section in [
        ("types", "op_type_configs:\n  conv: {weights: int4, weight_threshold: -1}\n"),
        ("unknown-type", "op_type_configs:\n  'x\x1b': null\n"),
        ("names", 'op_name_configs:\n  "x\\nFORGED\\e[31m": null\n'),
        ("many", "op_name_configs:\n" + "".join(f"  n{i}: null\n" for i in range(40_000))),
        ("cycle", "global_config: &a {weights: *a}\n"),
        ("nested", "global_config: {weights: {weights: int8}}\n"),
        ("twice", "config_type: A\nconfig_type: B\n")]:
        yield f"quantize/{name}", Rule((FINE, USAGE, DATA)), QUANTIZE, section


def _searches():
    for text in ("", "=", "=1", "width", "width=", "width=nan", "width=1e400", "a=b", "x\x1b[31m=1",
                 "x\nFORGED=1", "=" * 10_000, "architecture=", "architecture=x\nFORGED", "steps=0",
                 "output=base", "data.train=/dev/zero", "a" * 100_000 + "=1"):
        yield (f"search/candidate={label(text)}", Rule((FINE, USAGE, DATA)),
               (*SEARCH, "--candidate", text), CONFIGURATION)
    yield "search/healthy", ACCEPTED, SEARCH, CONFIGURATION


def cases(base):
    """All of these files."""
    subjects = [*_values(), *_structures(), *_paths(), *_quantizations(), *_searches()]
    keeps = {"train": ("run",), "search": ("found",), "quantize": ()}
    return named_once([
        Case(f"yaml/{name}", rule, command, _file(content), keeps=keeps[command[0]])
        for name, rule, command, content in subjects])
