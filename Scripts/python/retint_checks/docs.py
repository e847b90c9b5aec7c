"""Checks the documents, builds them offline, and fails on any warning.

    Scripts/check docs [--update] [OUTPUT.doccarchive]

All documents are compared with the tool and the repository:

- Text that an article quotes from a command is what the command prints. Such a quotation is a
  code block after `<!-- output: retint … -->`; --update regenerates it.
- Every `retint` command line in a `sh` block uses a command and options that the help lists.
- Every path under Scripts, Examples, Checkpoints, Sources and Tests in a `sh` block, or in the
  text between backquotes, is in the repository; so is the target of every relative link. What
  follows Scripts/check and its like is the name of a check.
- So are the options of scripts: their text is in the script, or in the module that a name stands
  for. `Scripts/check commands` runs the commands.
- Figures are those of their sources: see `_figures`.
- Every part of a `swift` block, up to an empty line, is in one Swift file of the repository, so
  that a build compiles it; comments and indentation may differ.

Then docc converts the catalog with the symbols of the release build. A warning, such as a dead
link, and a public symbol without a comment are faults, too. Each is printed with its place; the
exit status is 1 if there is one.

To read the result: python3 -m http.server -d .build/docs/Retint.doccarchive, then open
http://localhost:8000/documentation/retint.
"""

import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import retint_build
import retint_options
import retint_tool
from retint_tool import ROOT

from . import _figures, imports

CATALOGS = sorted(ROOT.glob("Sources/**/*.docc"))
CATALOG = next(catalog for catalog in CATALOGS if catalog.name == "Retint.docc")
PAGES = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "Datasets/README.md",
                             "Scripts/packaging/README.md")]
PAGES += sorted((ROOT / "Checkpoints").glob("*.md"))
PAGES += [page for catalog in CATALOGS for page in sorted(catalog.rglob("*.md"))]
QUOTATION = re.compile(r"<!-- output: ([^\n]+) -->\n\n```(\w+)\n(.*?)```\n", re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SWIFT = re.compile(r"^```swift\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PATH = re.compile(r"(?:Scripts|Examples|Checkpoints|Sources|Tests)/[\w./+-]*[\w]")
# A program that runs the modules of a package by name, and such a name.
NAMED = re.compile(r"Scripts/(check|compare|benchmark) ([a-z][\w-]*)")
PACKAGES = {"check": "retint_checks", "compare": "retint_comparisons",
            "benchmark": "retint_benchmarks"}
# Scripts that run a package.
PROGRAMS = {"oracle": "retint_oracle", "release": "retint_release"}
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)\)")


def code(text):
    """The lines without indentation, comments and empty lines, as one string."""
    lines = (re.sub(r"(^|\s)//.*", "", line).strip() for line in text.splitlines())
    return "\n" + "".join(line + "\n" for line in lines if line)


def commands(line):
    """The words of each command in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split = True
    result = [[]]
    for word in lexer:
        if set(word) <= set("|&;"):
            result.append([])
        else:
            result[-1].append(word)
    return result


@functools.cache
def sources():
    """The code of all Swift files in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "*.swift"], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.splitlines()]
    return [code(file.read_text()) for file in files if file.exists()]


class Documents:
    def __init__(self, retint, updates):
        self.retint, self.updates, self.faults = retint, updates, []

    def fault(self, page, text, position, message):
        line = text.count("\n", 0, position) + 1
        self.faults.append(f"{page.relative_to(ROOT)}:{line}: {message}")

    @functools.cache
    def output(self, command):
        """What a command prints, with no spaces at the ends of lines."""
        environment = {**os.environ, "COLUMNS": "80"}
        done = subprocess.run(
            [self.retint, *shlex.split(command)[1:]], capture_output=True, text=True,
            env=environment)
        if done.returncode:
            return None
        return "\n".join(line.rstrip() for line in done.stdout.strip("\n").split("\n")) + "\n"

    def options(self, command):
        """The options in the help of a command; nil if there is no such command."""
        text = self.output(shlex.join([*command, "--help-all"]))
        if text is None or len(command) > 1 and f"USAGE: {shlex.join(command)}" not in text:
            return None
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))

    def check(self, page):
        text = page.read_text()
        text = self.check_quotations(page, text)
        for block in BLOCK.finditer(text):
            self.check_block(page, text, block)
        for block in SWIFT.finditer(text):
            self.check_code(page, text, block)
        for match in re.finditer(r"`([^`\n]+)`", text):
            self.check_paths(page, text, match)
        if page not in [p for c in CATALOGS for p in c.rglob("*.md")]:
            for match in LINK.finditer(text):
                if not (page.parent / match.group(1)).exists():
                    self.fault(page, text, match.start(), f"there is no {match.group(1)}")

    def check_quotations(self, page, text):
        def replaced(match):
            command, language, quoted = match.groups()
            output = self.output(command)
            if output is None:
                self.fault(page, text, match.start(), f"{command} fails")
                return match.group(0)
            if output != quoted and not self.updates:
                self.fault(page, text, match.start(), f"{command} prints something else: --update")
            return f"<!-- output: {command} -->\n\n```{language}\n{output}```\n"

        new = QUOTATION.sub(replaced, text)
        if self.updates and new != text:
            page.write_text(new)
        return new if self.updates else text

    def check_block(self, page, text, block):
        self.check_paths(page, text, block)
        position = block.start(1)
        for line in re.sub(r"\\\n", "  ", block.group(1)).splitlines():
            for words in commands(line):
                while words and "=" in words[0]:
                    words.pop(0)
                if words and words[0] == "retint":
                    self.check_command(page, text, position, words)
                if words and words[0].endswith("/python"):
                    words.pop(0)
                if words and words[0].startswith("Scripts/"):
                    self.check_script(page, text, position, words)
            position += len(line) + 1

    def check_code(self, page, text, block):
        position = block.start(1)
        for part in block.group(1).split("\n\n"):
            if not any(code(part) in source for source in sources()):
                self.fault(page, text, position, "no Swift file has this code")
            position += len(part) + 2

    def check_command(self, page, text, position, words):
        command = words[:3] if words[1:2] == ["dataset"] else words[:2]
        options = self.options(command)
        if options is None:
            return self.fault(page, text, position, f"there is no command {' '.join(command)}")
        for word in words[len(command):]:
            option = word.split("=")[0]
            if re.match(r"--?[a-zA-Z]", word) and option not in options:
                self.fault(page, text, position, f"{' '.join(command)} has no option {option}")

    def check_script(self, page, text, position, words):
        """Options of a script that are nowhere in its text, or in that of what it imports."""
        program, *rest = words
        files = [ROOT / program]
        package = PACKAGES.get(program.removeprefix("Scripts/"))
        if package and rest:
            files = [ROOT / f"Scripts/python/{package}/{rest[0].replace('-', '_')}.py"]
        elif program.removeprefix("Scripts/") in PROGRAMS:
            files = (ROOT / "Scripts/python" / PROGRAMS[program.removeprefix("Scripts/")]).glob(
                "*.py")
        known = "".join(file.read_text() for file in files if file.is_file())
        known += (ROOT / "Scripts/python/retint_options.py").read_text()
        for word in rest:
            option = word.split("=")[0]
            if re.match(r"--[a-z]", word) and option not in known:
                self.fault(page, text, position, f"{program} has no option {option}")

    def check_paths(self, page, text, match):
        for path in PATH.finditer(match.group(1)):
            before = match.group(1)[:path.start()][-1:]
            name = path.group(0)
            if before in ("/", "<", "-") or before.isalnum():
                continue
            if not (ROOT / name).exists() and not list(ROOT.glob(name + "*")):
                self.fault(page, text, match.start(1) + path.start(), f"there is no {name}")
        for named in NAMED.finditer(match.group(1)):
            program, name = named.groups()
            file = f"Scripts/python/{PACKAGES[program]}/{name.replace('-', '_')}.py"
            if not (ROOT / file).exists():
                self.fault(page, text, match.start(1) + named.start(), f"there is no {file}")


def extract_symbols(module, folder):
    """Writes the public symbols of Retint or RetintNetworks, and of all modules that it exports."""
    info = json.loads(retint_build.swift(
        "-print-target-info", capture_output=True, text=True).stdout)
    exported = set(imports.EXPORT.findall(imports.FACES[module].read_text()))
    subprocess.run(
        ["swift-symbolgraph-extract", "-module-name", module, "-target",
         info["target"]["triple"], "-output-dir", folder, "-minimum-access-level", "public",
         "-skip-synthesized-members",
         f"-experimental-allowed-reexported-modules={','.join(sorted(exported))}",
         *retint_build.module_flags()], cwd=ROOT, check=True)


def extract_all(folder):
    """Writes the symbols of both modules; what both have is described with RetintNetworks."""
    graphs = {}
    for module in ("RetintNetworks", "Retint"):
        extract_symbols(module, folder)
        graphs[module] = json.loads((folder / f"{module}.symbols.json").read_text())
    shared = {symbol["identifier"]["precise"] for symbol in graphs["RetintNetworks"]["symbols"]}
    own = graphs["Retint"]
    own["symbols"] = [symbol for symbol in own["symbols"]
                      if symbol["identifier"]["precise"] not in shared]
    own["relationships"] = [one for one in own["relationships"] if one["source"] not in shared]
    (folder / "Retint.symbols.json").write_text(json.dumps(own))


def undocumented(folder):
    """FILE: SYMBOL for each public symbol without a comment, its own or an inherited one."""
    for path in folder.glob("*.symbols.json"):
        graph = json.loads(path.read_text())
        inherited = {r["source"] for r in graph["relationships"] if "sourceOrigin" in r}
        for symbol in graph["symbols"]:
            if "docComment" not in symbol and symbol["identifier"]["precise"] not in inherited:
                file = symbol.get("location", {}).get("uri", "").rpartition("/Sources/")[2]
                yield f"Sources/{file}: {'.'.join(symbol['pathComponents'])}"


def convert(output):
    """Has docc convert the catalog; returns the number of faults in comments."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        symbols = pathlib.Path(scratch)
        extract_all(symbols)
        subprocess.run(
            ["docc", "convert", CATALOG, "--additional-symbol-graph-dir", symbols, "--output-dir",
             output, "--fallback-display-name", "Retint", "--fallback-bundle-identifier", "retint",
             "--fallback-default-module-kind", "Swift package", "--warnings-as-errors"], check=True)
        missing = sorted(undocumented(symbols))
    for place in missing:
        print(f"docs: no comment in {place}", file=sys.stderr)
    return len(missing)


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--update", action="store_true", help="write quoted texts anew")
    parser.add_argument("output", nargs="?", type=pathlib.Path, metavar="OUTPUT.doccarchive",
                        default=ROOT / ".build/docs/Retint.doccarchive")
    options = parser.parse_args()
    if not retint_build.is_built():
        retint_build.build(*retint_build.FLAGS, "--product", "retint")
    documents = Documents(retint_tool.RETINT, options.update)
    for page in PAGES:
        documents.check(page)
    _figures.Figures(documents.retint, PAGES, documents.fault).check()
    for fault in documents.faults:
        print(fault, file=sys.stderr)
    if documents.faults or convert(options.output):
        return 1
    print(f"docs: no warnings; the documentation is in {options.output}")
    return 0
