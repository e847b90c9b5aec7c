"""Becomes the program, with the same arguments and process."""

import os
import sys

from retint._files import executable


def main() -> None:
    os.execv(executable, ["retint", *sys.argv[1:]])


if __name__ == "__main__":
    main()
