"""Finds out which numbers converters get wrong: generated cases of single operations.

    Scripts/oracle FOLDER [--only PRODUCER[/KIND]...] [--operations NAME...] [--wrong]
        [--sample N] [--jobs N]
    Scripts/oracle FOLDER --table

Each case is an operation of PyTorch with parameters and seeded inputs. Each converter, in several
versions, writes it in several kinds of files; retint runs these, and PyTorch says what is right.
FOLDER keeps the results, and the files that are wrong or that retint cannot read: a run that is
repeated makes only what is missing. Prints the counts of each kind. --table
writes the table of wrong numbers, for which each wrong case has to be explained in `faults`.
"""

import collections
import hashlib
import pathlib
import subprocess
import sys

import retint_options
import retint_tables

from . import producers, publishing, running, table

STATES = ("right", "wrong", "refused", "ours", "unread", "invalid")


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", metavar="PRODUCER[/KIND]", default=[])
    parser.add_argument("--operations", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--wrong", action="store_true",
                        help="only cases that are wrong in a file so far")
    parser.add_argument("--table", action="store_true",
                        help="write the table from what FOLDER has; converts nothing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    retint_options.add_sample(parser)
    options = parser.parse_args()
    pairs = [(producer, kind) for producer in producers.PRODUCERS for kind in producer.kinds
             if not options.only or producer.id in options.only
             or f"{producer.id}/{kind.name}" in options.only]
    for producer in {producer.id: producer for producer, _ in pairs}.values():
        producer.prepare()
    if options.table:
        return tabulate(options.folder, names(pairs[0][0], []))
    chosen = retint_options.Sample(options, "oracle").of(names(pairs[0][0], options.operations))
    if options.wrong:
        known = wrong(options.folder)
        chosen = [name for name in chosen if name in known]
    folders = {(producer, kind): options.folder / producer.id / kind.name
               for producer, kind in pairs}
    running.run([(*pair, folder.resolve(), chosen) for pair, folder in folders.items()],
                options.jobs)
    rows = [("producer", "kind", *STATES)]
    for (producer, kind), folder in folders.items():
        counts = collections.Counter(
            result["state"] for result in running.results(folder).values())
        rows.append((producer.id, kind.name, *(str(counts[state]) for state in STATES)))
    print("\n".join(retint_tables.aligned(rows)))
    return 0


def names(producer, operations):
    """The names of the cases, which need PyTorch, in an order whose beginning has some of all."""
    done = subprocess.run(
        [producer.python, "-c", "from retint_oracle import cases\n"
         "for case in cases.all_cases(): print(case.row.operation, case.name, sep='\\t')"],
        check=True, capture_output=True, text=True)
    pairs = [line.split("\t") for line in done.stdout.splitlines()]
    return sorted(
        (name for operation, name in pairs if not operations or operation in operations),
        key=lambda name: (name.endswith("as constants"), hashlib.sha256(name.encode()).digest()))


def tabulate(folder, known):
    """Writes the table everywhere; fails if wrong cases are not explained."""
    unexplained = table.written(folder, known)
    publishing.publish(table.read(), writes=True)
    for producer, kind, name, text in unexplained:
        print(f"{producer} {kind}: {name}: {text}")
    print(f"{len(unexplained)} wrong cases are not explained: read their files, and add faults.py")
    return 1 if unexplained else 0


def wrong(folder):
    """The names of the cases that are wrong in any file."""
    return {name for path in folder.glob("*/*/results.jsonl")
            for name, result in running.results(path.parent).items() if result["state"] == "wrong"}


sys.exit(main())
