"""The table of wrong numbers: made from results and from the faults that explain them."""

import collections
import hashlib
import json
import pathlib

from . import faults, producers, running

PATH = pathlib.Path(__file__).with_name("table.json")
# The kind of file of which `Scripts/check oracle` repeats cases, also right ones.
CHECKED = ("coremltools-9.0", "iOS15-float32")
COUNTED = ("right", "wrong", "refused", "ours", "unread")


def read():
    return json.loads(PATH.read_text())


def written(folder, names):
    """Writes the table from a folder of results; returns the wrong cases that no fault explains."""
    table, unexplained = made(folder, set(names))
    PATH.write_text(json.dumps(table, indent=1) + "\n")
    return unexplained


def made(folder, names):
    """The table, and the wrong cases that no fault explains."""
    counts, unexplained = [], []
    wrong, versions = {}, collections.defaultdict(set)
    for producer in producers.PRODUCERS:
        for kind in producer.kinds:
            results = running.results(folder / producer.id / kind.name)
            results = {name: results[name] for name in sorted(names & results.keys())}
            if not results:
                continue
            states = collections.Counter(result["state"] for result in results.values())
            counts.append({"converter": producer.name, "version": producer.version,
                           "kind": kind.name, **{state: states[state] for state in COUNTED}})
            found = collections.defaultdict(list)
            for name, result in results.items():
                if result["state"] not in ("wrong", "unread") or (
                        producer.name != faults.ONNX and faults.is_undecided(name)):
                    continue
                fault = faults.explaining(producer.name, kind.name, name, result["state"])
                if fault:
                    found[fault.id].append(name)
                    versions[fault.id].add(producer.version)
                elif result["state"] == "wrong":
                    unexplained.append((producer.id, kind.name, name, result["text"]))
            wrong[f"{producer.id}/{kind.name}"] = dict(sorted(found.items()))
    rows = [fault.row | {"versions": sorted(versions[fault.id], key=producers.order)}
            for fault in faults.FAULTS if fault.id in versions]
    checked = running.results(folder / CHECKED[0] / CHECKED[1])
    right = sorted(mark(name) for name in names & checked.keys()
                   if checked[name]["state"] == "right")
    return {"cases": len(names), "counts": counts, "faults": rows, "wrong": wrong,
            "right": [" ".join(right[start:start + 10]) for start in range(0, len(right), 10)],
            }, unexplained


def mark(name):
    """What the table has in place of the name of a right case."""
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def right_marks(table):
    return {mark for line in table["right"] for mark in line.split()}
