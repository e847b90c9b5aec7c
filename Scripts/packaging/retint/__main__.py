"""Becomes the program, with the same arguments and process."""

import os
import sys

from retint import executable


def main():
    os.execv(executable, ["retint", *sys.argv[1:]])


if __name__ == "__main__":
    main()
