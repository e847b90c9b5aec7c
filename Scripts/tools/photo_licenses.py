"""Checks that Debian packages state the licenses that Datasets/debian-photos.tsv lists.

    .venv/bin/python Scripts/tools/photo_licenses.py LIST PACKAGE.deb...

For each photo of these packages: the package makes the statement that the column `stated` quotes,
the license there is that of the list, and the web address the one in `source`. A photo without a
statement must be in a split that networks are only measured on. Prints what is wrong, and exits
with status 1 then. `Scripts/datasets --check-licenses` runs it on every package.
"""

import csv
import pathlib
import sys

import retint_options
from retint_photos import card, debian, statements


def fault(row, package):
    """What is wrong with a row of the list; None if nothing is."""
    if row["stated"] == "-":
        if row["split"] in card.MEASURED_ON and row["license"] == "-":
            return None
        return f"no license is stated, but it is in {row['split']}"
    try:
        license, source = statements.stated(row, package)
    except statements.Unstated as error:
        return str(error)
    if (license, source) != (row["license"], row["source"]):
        return f"the package says {license}, {source}; the list {row['license']}, {row['source']}"
    return None


def main():
    parser = retint_options.parser(__doc__)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("packages", nargs="+")
    options = parser.parse_args()
    with options.list.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    wrong = 0
    for deb in options.packages:
        package = debian.Package(deb, {debian.file_of(row["path"]) for row in rows})
        for row in rows:
            if row["package"] == package.name and (found := fault(row, package)):
                print(f"{row['name']} ({row['package']}): {found}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
