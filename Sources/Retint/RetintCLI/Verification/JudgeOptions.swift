import ArgumentParser
import Retint

/// Which runtime verifies a model.
struct JudgeOptions: ParsableArguments {
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case retint, apple, both

        var judges: [Judge] {
            switch self {
            case .retint: [.retint]
            case .apple: [.apple]
            case .both: [.retint, .apple]
            }
        }
    }

    @Option(
        name: .customLong("judge"),
        help: """
            What runs the model: retint, Apple's Core AI runtime (apple, for .aimodel), or both, \
            which must both pass; default: retint.
            """)
    var choice: Choice?

    @Option(
        help: .rare(
            """
            The Python with Apple's Core AI runtime; default: $RETINT_COREAI_PYTHON, or in a \
            checkout that of Scripts/setup --coreai.
            """, valueName: "python"), completion: .file())
    var judgePython: String?

    @Option(
        help: .rare(
            "The time limit for a process of Apple's runtime, in seconds; default: 600.",
            valueName: "seconds"))
    var judgeTimeout: Double?

    @Option(
        help: .rare(
            """
            Run the model on a GPU, too, where it must pass as well: cuda, or cuda:1 for the one \
            with index 1.
            """, valueName: "device"))
    var also: Execution.Device?

    var judges: [Judge] { (choice ?? .retint).judges + (also == nil ? [] : [.cuda]) }

    var isGiven: Bool {
        choice != nil || judgePython != nil || judgeTimeout != nil || also != nil
    }

    func validate() throws {
        if let judgeTimeout, !(judgeTimeout > 0 && judgeTimeout <= 1e6) {
            throw ValidationError("--judge-timeout \(judgeTimeout): must be above 0, up to 1000000")
        }
        switch also {
        case nil, .cuda: break
        case let device?:
            throw ValidationError("--also \(device.rawValue): must be cuda or cuda:N")
        }
        guard judges.contains(.apple) || judgePython == nil && judgeTimeout == nil else {
            throw ValidationError("--judge-python and --judge-timeout need --judge apple or both")
        }
    }

    /// Apple's runtime.
    ///
    /// - Throws: `AppleRuntimeError` if it is not installed.
    var runtime: AppleRuntime {
        get throws {
            try AppleRuntime(python: judgePython, timeLimit: .seconds(judgeTimeout ?? 600))
        }
    }
}
