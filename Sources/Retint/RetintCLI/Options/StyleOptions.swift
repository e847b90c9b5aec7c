import ArgumentParser
import Retint

/// Which of a network's kinds of color is wanted.
struct StyleOptions: ParsableArguments {
    @Option(
        help: """
            The network's colors that are closest to the originals on average, or its vivid ones, \
            if it has them.
            """)
    var style = ColorStyle.accurate
}

extension ColorStyle: ExpressibleByArgument {}
