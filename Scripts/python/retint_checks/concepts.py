"""Checks that each shared concept has one type; counts decisions by format and public declarations.

    Scripts/check concepts [--strict] [--write] [--tree DIRECTORY]

A concept has the types that CONCEPTS names. A type that stood for it before must be gone, and each
similar type has a reason. Decisions by file format belong in the table of formats; no other code
asks for a kind of file or names an extension. The command line imports what a library user
imports. Public declarations are lines with `public`, without generated code: this is cheap and
stable, so that two counts can be compared.

Prints tables; --write updates the table in the architecture article. --tree counts in another
checkout. With --strict, the exit status is 1 if anything is left to do, or the article's table is
out of date.
"""

import dataclasses
import pathlib
import re

import retint_options
import retint_tables
from retint_tool import ROOT

ARTICLE = ROOT / "Sources/Retint/Retint/Retint.docc/Internals/Architecture.md"
GENERATED = ".pb.swift"


@dataclasses.dataclass(frozen=True)
class Concept:
    """A concept, the types that represent it, and similar types, each with a reason."""

    name: str
    types: tuple
    # Types that look as if they represented it too, and why they exist.
    similar: dict = dataclasses.field(default_factory=dict)
    # Types that represented it before, and must be gone.
    former: tuple = ()
    # Code that bypasses these types: its name, how it is found, and where it may be.
    traces: tuple = ()


@dataclasses.dataclass(frozen=True)
class Trace:
    """Code that bypasses the types: a pattern, and the folders in which it is looked for."""

    name: str
    pattern: str
    folders: tuple = ("",)


CONCEPTS = (
    Concept("which network", ("NetworkDescription",), former=("NetworkChoice",), traces=(
        Trace("calls of `makeColorizer`", r"(?<!func )\bmakeColorizer\("),
        Trace("options as text", r"\b(?:let|var) options: \[String: String\]"))),
    Concept("what goes in and out", ("ModelInterface",)),
    Concept(
        "how to run", ("Execution",), {
            "CompileOptions": "what an `Execution` says, with what one program alone needs",
            "MemoryOptions": "the options of commands that make an `Execution`"},
        ("ComputeOptions",), (
            Trace("`threads:` beside a model", r"\b(?:model|Model)\b[^()]*, threads: Int"),
            Trace("`choices:` beside `threads:`", r"choices: KernelChoices, threads:",
                  ("Tasks",)))),
    Concept("which file format", ("ModelFormat",), former=("ExportFormat",)),
    Concept("a value of a graph", ("Node",), {
        "LoweredNode": "with its name and its form in MIL",
        "ExportedOperation": "with the name of the operation in the package",
        "RaisedResult": "with the package's own name and rounding",
        "TracedValue": "with its path through the modules",
        "ComputedValue": "what it is called in a report, without a graph",
        "ObservedValue": "where it lies in a program's memory",
        "LayerObject": "a row of `verify --json`"}),
    Concept("precision", ("ElementType", "Arithmetic", "Precision"), {
        "ModelPrecision": "what a file holds: also quantized and mixed",
        "ComputePrecision": "what a verification computes in: also as the package declares",
        "ComputeFormat": "the words of `--compute`",
        "ResultRounding": "which results float16 arithmetic rounds",
        "DeviceArithmetic": "an arithmetic that is emulated, with the order of sums",
        "NodeArithmetic": "that of a node of a graph",
        "StoredType": "tensor files have more types than graphs",
        "ONNXElementType": "the numbers of ONNX's types"}),
    Concept("a verification", ("VerificationReport",), former=("ResultsFile",)),
    Concept("a refusal", ("Refusal",), {
        "ShapeError": "tensors lie beneath the files that refusals name",
        "EvaluationError": "the refusals of many photos together"}, traces=(
            Trace("other errors", r"\bpublic (?:struct|enum|class) "
                  r"(?!Refusal\b|ShapeError\b|EvaluationError\b)\w+\s*:[^{]*\b\w*Error\b"),)),
    Concept("inputs of a step", ("StepInput", "LossTerm"), traces=(
        Trace("inputs of a step by text", r'\.input\("', ("Tasks/Training",)),)),
)

TYPE = re.compile(
    r"^\s*(?:@[\w().]+ )*(?:(?:public|package|internal|fileprivate|private|final|indirect|open|"
    r"nonisolated) )*(?:struct|class|enum|protocol|actor|typealias) (\w+)", re.MULTILINE)
PUBLIC = re.compile(
    r"^( *)(?:@[\w().]+ )*(?:public|open) (?:(?:static|final|class|indirect|mutating|override|"
    r"convenience|nonisolated|required|(?:package|private|internal|fileprivate)\(set\)) )*"
    r"(struct|class|enum|protocol|actor|typealias|func|var|let|init|subscript)\b", re.MULTILINE)
KINDS = {"struct", "class", "enum", "protocol", "actor", "typealias"}
# The files that are a table of formats, and what is a decision elsewhere.
TABLES = re.compile(r"/(?:ModelFormat|TensorFileFormat)[^/]*\.swift$")
EXTENSIONS = "mlpackage|aimodel|onnx|h5|hdf5|safetensors|pth|pt|ckpt"
DECISION = re.compile(
    r"(?<!func )\b(?:isPackage|isAIModel|isONNX|isCheckpoint)\(|(?<!init\()\bcontentsOfModel:|"
    rf'"(?:{EXTENSIONS})"|hasSuffix\("\.(?:{EXTENSIONS})"')
# Lines with such a word as a name of something else.
NAMES = re.compile(r"\b(?:kind|architecture)\b.*=|\bmetadata:")
IMPORT = re.compile(
    r"^(?:@[\w()]+ )*(?:(?:public|package|internal) )?import (?:\w+ )?(\w+)", re.MULTILINE)
SYSTEM = {"Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization"}
COMMAND_LINE = {"ArgumentParser", "Retint", "RetintNetworks"}


class Sources:
    """The Swift files of a checkout, without comments."""

    def __init__(self, tree):
        self.texts = {}
        for path in sorted((tree / "Sources").rglob("*.swift")):
            if not path.name.endswith(GENERATED):
                text = re.sub(r"(^|\s)//.*", r"\1", path.read_text())
                self.texts[str(path.relative_to(tree))] = text
        self.types = {name for text in self.texts.values() for name in TYPE.findall(text)}

    def count(self, trace):
        folders = tuple(f"Sources/{folder}" for folder in trace.folders)
        return sum(len(re.findall(trace.pattern, text)) for name, text in self.texts.items()
                   if name.startswith(folders))

    def decisions(self):
        """FILE:LINE: CODE of each decision by file format outside of the table of formats."""
        for name, text in self.texts.items():
            if TABLES.search(f"/{name}"):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                if DECISION.search(line) and not NAMES.search(line):
                    yield f"{name}:{number}: {line.strip()}"

    def command_line(self):
        """The modules that the command line imports, without the system's."""
        texts = (text for name, text in self.texts.items() if "/RetintCLI/" in name)
        return {module for text in texts for module in IMPORT.findall(text)} - SYSTEM

    def public(self):
        """The indentation and the kind of each public declaration."""
        return [(len(found[1]), found[2]) for text in self.texts.values()
                for found in PUBLIC.finditer(text)]


def left(concept, sources):
    """What is left of former types, and of code that bypasses the types of a concept."""
    yield from (f"`{name}`" for name in concept.former if name in sources.types)
    for trace in concept.traces:
        if count := sources.count(trace):
            yield f"{count} {trace.name}"


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT)
    options = parser.parse_args()
    sources = Sources(options.tree.resolve())
    table = concepts(sources)
    decisions = list(sources.decisions())
    imported = sources.command_line()
    print(table)
    print(f"\n{len(decisions)} decisions by file format outside of its table", *decisions, sep="\n")
    print(f"\nThe command line imports {', '.join(sorted(imported))}")
    print(f"\n{declarations(sources.public())}")
    faults = [name for concept in CONCEPTS for name in (*concept.types, *concept.similar)
              if name not in sources.types]
    faults += [one for concept in CONCEPTS for one in left(concept, sources)]
    is_done = not faults and not decisions and imported <= COMMAND_LINE
    if options.strict or options.write:
        is_done &= retint_tables.in_article(
            ARTICLE, "concepts", table, options.write, "Scripts/check concepts --write")
    return 1 if options.strict and not is_done else 0


def concepts(sources):
    """The table of the article."""
    def present(name):
        return f"`{name}`" if name in sources.types else f"`{name}` is missing"

    return retint_tables.markdown(("concept", "types", "similar types, with the reason", "to do"), (
        (concept.name, ", ".join(map(present, concept.types)),
         "; ".join(f"{present(name)}: {reason}" for name, reason in concept.similar.items()) or "–",
         ", ".join(left(concept, sources)) or "–")
        for concept in CONCEPTS))


def declarations(public):
    """How many declarations are public, and how many of these are types and global functions."""
    types = sum(kind in KINDS for _, kind in public)
    functions = sum(kind == "func" and indentation == 0 for indentation, kind in public)
    return (f"{len(public)} public declarations: {types} types, {functions} global functions, "
            f"{len(public) - types - functions} members and others")
