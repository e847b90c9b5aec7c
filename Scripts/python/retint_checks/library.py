"""Builds and runs Tests/LibraryTests, a package that uses retint as a library.

    Scripts/check library

It shares retint's build folder, and so the modules compiled there.
"""

import retint_build
import retint_options


def main():
    retint_options.parser(__doc__).parse_args()
    package = ["--package-path", "Tests/LibraryTests", *retint_build.SHARED]
    # `swift test` alone would compile all modules anew, with a flag of its own.
    retint_build.build(*package, "--product", "library-testsPackageTests")
    retint_build.swift("test", *package, "--skip-build")
    return 0
