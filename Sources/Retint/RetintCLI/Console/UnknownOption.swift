import ArgumentParser
import Foundation
import Retint

/// An option that a command does not have. The parser reports arguments that are missing first,
/// although a misspelled option is often why they are.
enum UnknownOption {
    /// A message about the first such option; nil if there is none.
    ///
    /// - Parameter arguments: those of the process, without its name.
    static func message(in arguments: [String]) -> String? {
        guard let command = command(of: arguments) else { return nil }
        let known = names(of: command)
        guard
            let unknown = arguments.prefix(while: { $0 != "--" }).lazy
                .filter({ $0.hasPrefix("--") })
                .map({ String($0.prefix { $0 != "=" }) })
                .first(where: { !known.contains($0) })
        else { return nil }
        let similar = Spelling.similar(to: unknown, among: known.sorted())
        guard !similar.isEmpty else { return nil }
        return "Unknown option '\(unknown)'. Did you mean \(similar.joined(separator: ", "))?"
    }

    private static func command(of arguments: [String]) -> (any ParsableCommand.Type)? {
        var command: any ParsableCommand.Type = RetintCommand.self
        for word in arguments {
            guard let next = command.configuration.subcommand(named: word) else { break }
            command = next
        }
        return command == RetintCommand.self ? nil : command
    }

    private static func names(of command: any ParsableCommand.Type) -> Set<String> {
        guard let help = try? JSONDecoder().decode(Help.self, from: Data(command._dumpHelp().utf8))
        else { return [] }
        let names = (help.command.arguments ?? []).flatMap { $0.names ?? [] }
        return Set(names.filter { $0.kind == "long" }.map { "--\($0.name)" }).union(["--help"])
    }

    private struct Help: Decodable {
        let command: Command

        struct Command: Decodable { let arguments: [Argument]? }
        struct Argument: Decodable { let names: [Name]? }
        struct Name: Decodable { let kind, name: String }
    }
}
