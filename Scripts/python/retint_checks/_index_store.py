"""Reads the index that the Swift compiler writes, through the toolchain's libIndexStore."""

import ctypes
import dataclasses

import retint_tool

DECLARATION, DEFINITION, REFERENCE, IMPLICIT = 1 << 0, 1 << 1, 1 << 2, 1 << 8
CHILD_OF, BASE_OF, OVERRIDE_OF, CALLED_BY = 1 << 9, 1 << 10, 1 << 11, 1 << 13
EXTENDED_BY, ACCESSOR_OF, CONTAINED_BY = 1 << 14, 1 << 15, 1 << 16
KINDS = {
    5: "enum", 6: "struct", 7: "class", 8: "protocol", 11: "typealias", 12: "func", 13: "var",
    15: "case", 16: "func", 17: "func", 18: "func", 19: "var", 20: "var", 21: "var", 22: "init",
}
RECORD = 2  # The kind of a unit's dependency that is a record.


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A declaration; `usr` identifies it across files."""

    usr: str
    name: str
    kind: int
    subkind: int


@dataclasses.dataclass(frozen=True)
class Occurrence:
    """A place where a symbol is declared or used; relations are pairs of roles and USR."""

    symbol: Symbol
    roles: int
    line: int
    relations: tuple


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode()


POINTER = ctypes.c_void_p
NAMES = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, String)
ITEMS = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER, POINTER)
FUNCTIONS = {
    "store_create": (POINTER, [ctypes.c_char_p, POINTER]),
    "store_units_apply_f": (ctypes.c_bool, [POINTER, ctypes.c_uint, POINTER, NAMES]),
    "unit_reader_create": (POINTER, [POINTER, ctypes.c_char_p, POINTER]),
    "unit_reader_dispose": (None, [POINTER]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [POINTER, POINTER, ITEMS]),
    "unit_dependency_get_kind": (ctypes.c_int, [POINTER]),
    "unit_dependency_get_name": (String, [POINTER]),
    "unit_dependency_get_filepath": (String, [POINTER]),
    "record_reader_create": (POINTER, [POINTER, ctypes.c_char_p, POINTER]),
    "record_reader_dispose": (None, [POINTER]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [POINTER, POINTER, ITEMS]),
    "occurrence_get_symbol": (POINTER, [POINTER]),
    "occurrence_get_roles": (ctypes.c_uint64, [POINTER]),
    "occurrence_get_line_col": (
        None, [POINTER, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint)]),
    "occurrence_relations_apply_f": (ctypes.c_bool, [POINTER, POINTER, ITEMS]),
    "symbol_relation_get_roles": (ctypes.c_uint64, [POINTER]),
    "symbol_relation_get_symbol": (POINTER, [POINTER]),
    "symbol_get_usr": (String, [POINTER]),
    "symbol_get_name": (String, [POINTER]),
    "symbol_get_kind": (ctypes.c_int, [POINTER]),
    "symbol_get_subkind": (ctypes.c_int, [POINTER]),
}


class Library:
    """The functions of libIndexStore, without their prefix."""

    def __init__(self):
        loaded = ctypes.CDLL(str(retint_tool.toolchain() / "lib/libIndexStore.so"))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(loaded, f"indexstore_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)


class IndexStore:
    def __init__(self, path):
        self.library = Library()
        self.store = self.library.store_create(str(path).encode(), None)
        if not self.store:
            raise OSError(f"{path}: cannot open the index")

    def records(self):
        """The names of the records of all files, by path."""
        names, found = [], {}
        collect = NAMES(lambda _, name: names.append(str(name)) or True)
        self.library.store_units_apply_f(self.store, 0, None, collect)
        for name in names:
            unit = self.library.unit_reader_create(self.store, name.encode(), None)
            if unit:
                self.add_records(unit, found)
                self.library.unit_reader_dispose(unit)
        return found

    def add_records(self, unit, found):
        def add(_, dependency):
            if self.library.unit_dependency_get_kind(dependency) == RECORD:
                path = str(self.library.unit_dependency_get_filepath(dependency))
                record = str(self.library.unit_dependency_get_name(dependency))
                found.setdefault(path, set()).add(record)
            return True

        self.library.unit_reader_dependencies_apply_f(unit, None, ITEMS(add))

    def occurrences(self, record):
        """All occurrences in a record."""
        reader = self.library.record_reader_create(self.store, record.encode(), None)
        if not reader:
            return []
        symbols, result = {}, []

        def add(_, pointer):
            result.append(self.occurrence(pointer, symbols))
            return True

        self.library.record_reader_occurrences_apply_f(reader, None, ITEMS(add))
        self.library.record_reader_dispose(reader)
        return result

    def occurrence(self, pointer, symbols):
        relations = []

        def add(_, relation):
            symbol = self.symbol(self.library.symbol_relation_get_symbol(relation), symbols)
            relations.append((self.library.symbol_relation_get_roles(relation), symbol.usr))
            return True

        self.library.occurrence_relations_apply_f(pointer, None, ITEMS(add))
        line, column = ctypes.c_uint(), ctypes.c_uint()
        self.library.occurrence_get_line_col(pointer, ctypes.byref(line), ctypes.byref(column))
        return Occurrence(
            self.symbol(self.library.occurrence_get_symbol(pointer), symbols),
            self.library.occurrence_get_roles(pointer), line.value, tuple(relations))

    def symbol(self, pointer, symbols):
        if pointer not in symbols:
            get = self.library
            symbols[pointer] = Symbol(
                str(get.symbol_get_usr(pointer)), str(get.symbol_get_name(pointer)),
                get.symbol_get_kind(pointer), get.symbol_get_subkind(pointer))
        return symbols[pointer]
