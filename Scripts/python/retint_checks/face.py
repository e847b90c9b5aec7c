"""Checks what users of the library get: the modules Retint and RetintNetworks.

    Scripts/check face

Prints how many types and declarations each gives. The exit status is 1 if

- the command line uses anything that is not public: it is compiled once more as if it were another
  package (what it imports is checked by `Scripts/check imports`),
- a type that a module gives is in none of the topics of the module's page in the catalog, or a
  topic names a type that there is not,
- a global function is public in Retint; those of RetintNetworks are the operations, with the names
  that PyTorch gives them.

It reads the modules of the release build.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import retint_build
import retint_options
import retint_tables
from retint_tool import ROOT

from . import docs, imports

COMMAND_LINE = ROOT / "Sources/Retint/RetintCLI"
TYPES = {f"swift.{kind}" for kind in ("struct", "enum", "class", "protocol", "typealias")}
FUNCTION = "swift.func"
TOPIC = re.compile(r"^- ``(?:/\w+/)?(\w+)``$", re.MULTILINE)


def main():
    retint_options.parser(__doc__).parse_args()
    faults = inaccessible()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for face in imports.FACES:
            docs.extract_symbols(face, pathlib.Path(folder))
            path = pathlib.Path(folder) / f"{face}.symbols.json"
            symbols = json.loads(path.read_text())["symbols"]
            names = global_names(symbols, TYPES)
            faults += wrong_topics(face, names)
            functions = global_names(symbols, {FUNCTION})
            if face == "Retint":
                faults += [f"{face}: the function {name} is public; make it a method"
                           for name in sorted(functions)]
            rows.append((face, str(len(names)), str(len(functions)), str(len(symbols))))
    print(retint_tables.markdown(("module", "types", "functions", "declarations"), rows))
    for fault in faults:
        print(f"face: {fault}", file=sys.stderr)
    return 1 if faults else 0


def inaccessible():
    """The errors of compiling the command line outside the package."""
    done = subprocess.run(
        ["swiftc", "-typecheck", "-swift-version", "6", "-parse-as-library", "-module-name",
         "RetintCLI", *retint_build.module_flags(), *sorted(COMMAND_LINE.rglob("*.swift"))],
        cwd=ROOT, capture_output=True, text=True)
    errors = {line for line in done.stderr.splitlines() if re.match(r"\S+:\d+:\d+: error: ", line)}
    if done.returncode and not errors:
        return [f"the command line cannot be compiled: {done.stderr}"]
    return sorted(error.replace(f"{ROOT}/", "") for error in errors)


def global_names(symbols, kinds):
    return {symbol["pathComponents"][0] for symbol in symbols
            if len(symbol["pathComponents"]) == 1 and symbol["kind"]["identifier"] in kinds}


def wrong_topics(face, names):
    page = next(docs.CATALOG.rglob(f"{face}.md"))
    topics = set(TOPIC.findall(page.read_text()))
    place = page.relative_to(ROOT)
    for name in sorted(names - topics):
        yield f"{place}: has no topic with {name}"
    for name in sorted(topics - names - {"retintVersion"}):
        yield f"{place}: {name} is not a type of {face}"
