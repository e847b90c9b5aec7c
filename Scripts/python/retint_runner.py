"""Runs the modules of a package by name, each with the Python that has what it needs.

`Scripts/check NAME`, `Scripts/compare NAME` and `Scripts/benchmark NAME` call it. A module's name
has underscores where its command has hyphens; modules whose names begin with an underscore are
parts of others. The first line of a module's documentation says what it does.
"""

import ast
import importlib
import os
import pathlib
import sys

import retint_tables
import retint_tool


def modules(package):
    """The files of a package's modules, by the names of their commands."""
    files = sorted(pathlib.Path(package.__file__).parent.glob("[!_]*.py"))
    return {file.stem.replace("_", "-"): file for file in files}


def summary(file):
    """The first line of a module's documentation; the module is not imported."""
    return ast.get_docstring(ast.parse(file.read_text())).splitlines()[0]


def usage(package, command):
    """What the package is, and a line for each of its modules."""
    lines = [package.__doc__, "", f"    {command} NAME [OPTION...]", ""]
    rows = [(name, summary(file)) for name, file in modules(package).items()]
    return "\n".join([*lines, *retint_tables.aligned(rows, left=2)])


def run(package, command, interpreters):
    """Runs what the command line names. Interpreters are by name; the others run with .venv."""
    name, *arguments = sys.argv[1:] or [""]
    if name in ("", "-h", "--help"):
        print(usage(package, command))
        return 0
    if name not in modules(package):
        print(f"{command}: there is no {name}\n\n{usage(package, command)}", file=sys.stderr)
        return 64
    python = interpreters.get(name, retint_tool.PYTHON)
    if not is_running(python):
        if not os.access(python, os.X_OK):
            sys.exit(f"{command} {name}: {python} does not exist; run Scripts/setup "
                     f"{retint_tool.SETUP_OPTIONS[python]}")
        os.execv(python, [python, "-m", package.__name__, *sys.argv[1:]])
    sys.argv = [f"{command} {name}", *arguments]
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}").main()


def is_running(python):
    """Whether this process is that Python; one of a virtual environment counts as another one."""
    return os.path.abspath(python) == os.path.abspath(sys.executable)
