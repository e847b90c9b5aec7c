import Yams

extension YamlError {
    /// The error in a file, with its line if that is known. Yams' own text has several lines, and
    /// quotes the file.
    func refusal(of name: String) -> TrainingError {
        switch self {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            return Self.refusal(
                of: name, line: mark.line, [problem, context?.text].compactMap(\.self))
        case .reader(let problem, let offset, _, let yaml):
            let line = offset.map { 1 + yaml.prefix($0).filter(\.isNewline).count }
            return Self.refusal(of: name, line: line, [problem])
        case .duplicatedKeysInMapping(let keys, let context):
            let listed = keys.prefix(3).joined(separator: ", ")
            let line = context.mark.line
            return TrainingError(
                at: line > 0 ? "\(name):\(line)" : name,
                "\(listed)\(keys.count > 3 ? " …" : "") has more than one value; keep one of them")
        default: return Self.refusal(of: name, line: nil, ["\(self)"])
        }
    }

    private static func refusal(of name: String, line: Int?, _ words: [String]) -> TrainingError {
        let problem = words.joined(separator: " ")
        // A pattern such as *.bias is read as an alias.
        let remedy = problem.contains("alias") ? "; put text that begins with * in quotes" : ""
        return TrainingError(
            at: line.map { "\(name):\($0)" } ?? name, "is not valid YAML: \(problem)\(remedy)")
    }
}
