"""Finds declarations in Sources that nothing outside the tests uses.

    Scripts/check unused [--index .build/release/index/store]

Reads the compiler's index, which a build with --enable-index-store writes. A declaration is used if

- code in Sources refers to it, from outside its own body,
- it implements a protocol's requirement or overrides a method,
- it is used by reflection or synthesized code: a property of a Codable type or of a network's
  module, a case of an enum with raw values,
- it is public and a program of a library's user names it: Tests/LibraryTests, Scripts/Examples or
  the documentation.

Other declarations are listed with a reason in unused.txt beside this file, or are reported; then
the exit status is 1. It is also 1 if an entry of that list is no longer needed.
"""

import fnmatch
import pathlib
import re
import sys

import retint_build
import retint_options
from retint_tool import ROOT

from . import _index_store as index

SOURCES = ROOT / "Sources"
EXCEPTIONS = pathlib.Path(__file__).with_name("unused.txt")
USERS = ["Tests/LibraryTests/**/*.swift", "Scripts/Examples/**/*.swift",
         "Sources/**/*.docc/**/*.md", "README.md"]
# Generic parameters, associated types and accessors belong to another declaration.
SUBKINDS = {3, 4, 1000, 1001, 1002, 1003, 1012, 1013, *range(1014, 1019)}
# Types whose properties synthesized code, ArgumentParser or Layers.Module reads by reflection.
REFLECTED = {"Codable", "Encodable", "Decodable", "ParsableCommand", "ParsableArguments", "Module"}
# Types of enums whose cases need not be named to be used.
ENUMERATED = {"CaseIterable", "RawRepresentable", "CodingKey", "String", "Int", "Int32", "UInt8",
              "UInt32", "UInt64"}
PROTOCOL = 8


class Declarations:
    """All declarations in Sources, and which of them are used."""

    def __init__(self, store):
        self.places, self.symbols, self.parents = {}, {}, {}
        self.used, self.bases, self.names = set(), {}, {}
        self.accessors, self.lines = {}, {}
        self.modules = {ROOT / target["path"]: name
                        for name, target in retint_build.targets().items()}
        for path, records in store.records().items():
            path = pathlib.Path(path)
            is_ours = SOURCES in path.parents and path.suffix == ".swift" and path.exists()
            if is_ours and not path.name.endswith(".pb.swift"):
                self.lines[path] = path.read_text().splitlines()
                for record in records:
                    self.add(path, store.occurrences(record))
        self.members = {}
        for usr, symbol in self.symbols.items():
            self.members.setdefault(self.type_of(usr), set()).add(symbol.name)

    def add(self, path, occurrences):
        for one in occurrences:
            for roles, usr in one.relations:
                if roles & index.ACCESSOR_OF:
                    self.accessors[one.symbol.usr] = usr
        for one in occurrences:
            if one.roles & (index.DEFINITION | index.DECLARATION):
                self.define(path, one)
            elif one.roles & index.REFERENCE:
                self.refer(one)

    def define(self, path, one):
        symbol = one.symbol
        for roles, usr in one.relations:
            if roles & index.CHILD_OF:
                self.parents[symbol.usr] = usr
            if roles & index.OVERRIDE_OF:
                self.used.add(symbol.usr)
        is_declared = symbol.kind in index.KINDS and symbol.subkind not in SUBKINDS
        if is_declared and not one.roles & index.IMPLICIT:
            self.symbols[symbol.usr] = symbol
            self.places[symbol.usr] = (path, one.line)

    def refer(self, one):
        within = {self.accessors.get(usr, usr) for roles, usr in one.relations
                  if roles & (index.CALLED_BY | index.CONTAINED_BY)}
        self.names[one.symbol.usr] = one.symbol.name
        is_extension = False
        for roles, usr in one.relations:
            if roles & index.BASE_OF:
                self.bases.setdefault(usr, set()).add(one.symbol.usr)
            if roles & index.EXTENDED_BY:
                is_extension = True
                self.parents[usr] = one.symbol.usr
                self.bases.setdefault(one.symbol.usr, set()).add(usr)
        if one.symbol.usr not in within and not is_extension:
            self.used.add(one.symbol.usr)

    def type_of(self, usr):
        """The type that a member belongs to, also if an extension declares it."""
        parent = self.parents.get(usr)
        return self.parents.get(parent, parent) if parent not in self.symbols else parent

    def ancestors(self, usr):
        """All protocols and classes above a type."""
        found, pending = set(), [usr]
        while pending:
            new = self.bases.get(pending.pop(), set()) - found
            found |= new
            pending += new
        return found

    def name(self, usr):
        """Module.Type.member"""
        parts, current = [], usr
        while current in self.symbols:
            parts.append(self.symbols[current].name)
            current = self.type_of(current)
        return ".".join([self.module(self.places[usr][0]), *reversed(parts)])

    def module(self, path):
        """The target that a file belongs to."""
        return next(self.modules[folder] for folder in path.parents if folder in self.modules)

    def is_synthesized(self, usr):
        """Whether synthesized code or a protocol's default implementation uses a declaration."""
        symbol, parent = self.symbols[usr], self.type_of(usr)
        above = self.ancestors(parent)
        names = {self.names.get(base) for base in above}
        kind = index.KINDS[symbol.kind]
        if symbol.name in ("encode(to:)", "init(from:)", "CodingKeys"):
            return True
        if kind == "case":
            return bool(names & ENUMERATED)
        if kind == "var" and names & REFLECTED:
            return True
        is_default = parent in self.symbols and self.symbols[parent].kind == PROTOCOL
        return is_default and any(symbol.name in self.members.get(base, ()) for base in above)

    def is_public(self, usr):
        path, line = self.places[usr]
        if re.search(r"\b(public|open)\b", self.lines[path][line - 1]):
            return True
        parent = self.parents.get(usr)
        is_part = self.symbols[usr].kind == 15 or (
            parent in self.symbols and self.symbols[parent].kind == PROTOCOL)
        return is_part and parent in self.symbols and self.is_public(parent)

    def unused(self, words):
        for usr, symbol in self.symbols.items():
            if usr in self.used or symbol.name in ("main", "_") or self.is_synthesized(usr):
                continue
            base = re.match(r"[^(]*", symbol.name)[0]
            if base == "init":
                # Nothing else than the type's name says that it is made.
                parent = self.symbols.get(self.parents.get(usr))
                base = parent.name if parent else base
            if not (self.is_public(usr) and base in words):
                yield usr


def words_of_users():
    texts = (path.read_text() for pattern in USERS for path in ROOT.glob(pattern))
    return set(re.findall(r"\w+", "\n".join(texts)))


def exceptions():
    """The patterns of the list, in order."""
    lines = EXCEPTIONS.read_text().splitlines() if EXCEPTIONS.exists() else []
    return [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]


def report(declarations, found, patterns):
    """Prints what is reported, and returns how many lines that were."""
    lines, matched = [], set()
    for usr in found:
        name, (path, line) = declarations.name(usr), declarations.places[usr]
        fitting = {pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)}
        matched |= fitting
        if not fitting:
            lines.append((str(path.relative_to(ROOT)), line, f"{name} is unused"))
    for path, line, text in sorted(lines):
        print(f"{path}:{line}: {text}")
    stale = [pattern for pattern in patterns if pattern not in matched]
    for pattern in stale:
        print(f"{EXCEPTIONS.relative_to(ROOT)}: {pattern} matches no unused declaration")
    return len(lines) + len(stale)


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("--index", default=str(ROOT / ".build/release/index/store"))
    options = parser.parse_args()
    if not pathlib.Path(options.index).is_dir():
        sys.exit(f"unused: {options.index} does not exist; build with --enable-index-store "
                 "(Scripts/test does)")
    declarations = Declarations(index.IndexStore(options.index))
    if not declarations.symbols:
        sys.exit(f"unused: {options.index} has no declarations of Sources")
    found = list(declarations.unused(words_of_users()))
    count = report(declarations, found, exceptions())
    print(f"unused: {len(declarations.symbols)} declarations, {count} reported", file=sys.stderr)
    return 1 if count else 0
