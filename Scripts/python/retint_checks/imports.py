"""Checks which target imports which, and the length of source lines.

    Scripts/check imports [--write] [--quiet]

Prints the targets, highest first, and which targets each imports, from the `import` lines of the
sources. The exit status is 1 if

- a target imports a module that Package.swift does not declare as its dependency, or does not
  import one that is declared; what Retint exports counts as imported where Retint is, and has to be
  declared there,
- targets import each other, so that they cannot be ordered,
- RetintCLI imports a target other than Retint and RetintNetworks,
- a line of Swift, Python, shell, C or YAML has more than 100 columns,
- the table in the architecture article is out of date; --write updates it.
"""

import re
import subprocess
import sys

import retint_build
import retint_options
import retint_tables
from retint_tool import ROOT

ARTICLE = ROOT / "Sources/Retint/Retint/Retint.docc/Internals/Architecture.md"
FACES = {name: ROOT / f"Sources/Retint/{name}/Exports.swift"
         for name in ("Retint", "RetintNetworks")}
EXPORT = re.compile(r"^@_exported import (?:[a-z]+ )?(\w+)", re.MULTILINE)
COLUMNS = 100
LANGUAGES = {".swift", ".py", ".sh", ".c", ".h", ".yaml"}
GENERATED = (".pb.swift",)
IMPORT = re.compile(
    r"^\s*(?:@[\w()]+\s+)*(?:public |package |internal |fileprivate |private )?import "
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor) )?(\w+)", re.MULTILINE)


def declared_dependencies(target):
    return set(target.get("target_dependencies", [])) | set(target.get("product_dependencies", []))


def imports_of(target):
    """The modules that a target's Swift files import."""
    found = set()
    for path in (ROOT / target["path"]).rglob("*.swift"):
        if "Goldens" not in path.parts:
            found |= set(IMPORT.findall(path.read_text()))
    return found


def levels(graph):
    """The targets in order, lowest first, without those that are in or above a cycle."""
    order, remaining = [], dict(graph)
    while remaining:
        ready = sorted(name for name, uses in remaining.items() if not uses & remaining.keys())
        if not ready:
            break
        order += ready
        for name in ready:
            del remaining[name]
    return order


class Check:
    def __init__(self):
        self.targets = retint_build.targets()
        self.violations = []
        self.products = set().union(
            *(set(t.get("product_dependencies", [])) for t in self.targets.values()))
        self.imports = {name: imports_of(target) for name, target in self.targets.items()}
        own = set(self.targets)
        self.graph = {
            name: (self.imports[name] & own) - {name} for name, target in self.targets.items()
            if target["type"] in ("library", "executable") and target["path"].startswith("Sources/")
            and target["module_type"] == "SwiftTarget"
        }

    def run(self):
        self.check_declarations()
        self.check_order()
        self.check_command_line()
        self.check_columns()

    def check_declarations(self):
        for name, target in self.targets.items():
            if target["module_type"] != "SwiftTarget":
                continue
            declared = declared_dependencies(target)
            used = self.imports[name] & (set(self.targets) | self.products) - {name}
            for face in FACES.keys() & used:
                used |= set(EXPORT.findall(FACES[face].read_text()))
            for module in sorted(used - declared):
                self.violations.append(f"{name} imports {module}: declare it in Package.swift")
            for module in sorted(declared - used):
                if target["type"] != "test":
                    self.violations.append(
                        f"{name} does not import {module}: remove it from Package.swift")

    def check_order(self):
        ordered = levels(self.graph_with_c())
        cyclic = sorted(set(self.graph) - set(ordered))
        if cyclic:
            self.violations.append(f"these targets import each other: {', '.join(cyclic)}")

    def graph_with_c(self):
        others = set(self.targets) - set(self.graph)
        return {**self.graph, **{name: set() for name in others}}

    def check_command_line(self):
        extra = sorted(self.graph.get("RetintCLI", set()) - set(FACES))
        if extra:
            self.violations.append(f"RetintCLI imports {', '.join(extra)} besides Retint")

    def check_columns(self):
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
            capture_output=True, text=True).stdout.splitlines()
        for name in listed:
            path = ROOT / name
            if name.endswith(GENERATED) or not path.is_file() or not is_source(path):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if len(line) > COLUMNS:
                    self.violations.append(f"{name}:{number}: {len(line)} columns")

    def table(self):
        """The targets from the top, with the targets that each imports."""
        order = [name for name in reversed(levels(self.graph_with_c())) if name in self.graph]
        return retint_tables.markdown(["target", "imports"], (
            (f"`{name}`", ", ".join(f"`{used}`" for used in self.uses(name, order)) or "–")
            for name in order))

    def uses(self, name, order):
        """The targets that a target imports; those of C, which are in no order, come last."""
        return sorted(self.graph[name], key=lambda used: (used not in order, used))


def is_source(path):
    if path.suffix in LANGUAGES:
        return True
    if path.suffix:
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="update the architecture article")
    parser.add_argument("--quiet", action="store_true", help="do not print the table")
    options = parser.parse_args()
    check = Check()
    check.run()
    table = check.table()
    if not options.quiet:
        print(table)
    for violation in check.violations:
        print(f"imports: {violation}", file=sys.stderr)
    is_current = retint_tables.in_article(
        ARTICLE, "imports", table, options.write, "Scripts/check imports --write")
    return 0 if is_current and not check.violations else 1
