import ArgumentParser

/// The option that shows all others. ``RetintCommand`` replaces it by ArgumentParser's own before
/// it parses a command.
struct HelpOptions: ParsableArguments {
    static let (flag, flagOfParser) = ("--help-all", "--help-hidden")

    @Flag(help: "Show the help with the rare options, too.")
    var helpAll = false
}

extension ArgumentHelp {
    /// The help of an option that few need: `--help-all` shows it, `--help` does not.
    static func rare(_ text: String, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(text, valueName: valueName, visibility: .hidden)
    }
}
