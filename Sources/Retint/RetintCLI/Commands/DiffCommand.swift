import ArgumentParser
import Retint

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what differs between two models.",
        discussion: """
            The models can be of any two formats. The command compares the interface, operations, \
            weights by value, metadata and, on the same inputs, the outputs, as by retint verify \
            SECOND --against FIRST. Exit code 0: the outputs are within the tolerance; 2: they are \
            outside, or the models do not take the same inputs. With --no-run, 2 means that \
            interface, operations or weights differ; weights of another precision count as the \
            same.

            Weights are paired by name and by their values, so that renamed ones are found. If the \
            other model has another format, a checkpoint is compared as export would write it.

            The default tolerance is that of verify for the coarser of the two precisions.

            With --bisect, name more models, from good to bad: the command finds the first model \
            that differs from the first one listed, as git bisect does, and reads only the models \
            that it needs. Exit code 2: it was found; 0: the last one does not differ.

            For example:
              retint diff old.mlpackage new.mlpackage
            """)

    @Argument(
        help: """
            The model to compare with, and the model that is compared; with --bisect, all models \
            from good to bad.
            """,
        completion: .model, transform: modelPath)
    var models: [String]

    @Flag(help: "Find the first model that differs from the first of all.")
    var bisect = false

    @Flag(name: .customLong("no-run"), help: "Compare the files alone; run nothing.")
    var comparesFilesOnly = false

    @OptionGroup var input: InputOptions
    @OptionGroup var bounds: BoundOptions

    @Option(
        help: """
            The arithmetic of the second model: float32, float16 or mixed, as in verify; default: \
            that of the model.
            """)
    var compute: ComputePrecision?

    @OptionGroup var memory: MemoryOptions

    @Flag(help: "List all intermediate values.")
    var layers = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp("Also write an HTML page.", valueName: "file"), completion: .page)
    var html: String?

    @OptionGroup var helpOptions: HelpOptions

    func validate() throws {
        try checkName(html, "--html", "html", "htm")
        guard models.count == 2 || bisect && models.count > 1 else {
            throw ValidationError(
                models.count > 2
                    ? "\(models.count) models: name two, or --bisect" : "name two models")
        }
        guard !bisect || html == nil && !layers else {
            throw ValidationError("--html and --layers show two models; omit --bisect")
        }
        guard comparesFilesOnly else { return }
        let isRunning = input.isGiven || bounds.areGiven || compute != nil || layers
        guard !isRunning else {
            throw ValidationError(
                "--no-run: nothing is run; omit the options for inputs, bounds, --compute and "
                    + "--layers")
        }
    }

    func run() async throws {
        let inputs = try models + input.paths
        let claim = try html.map { try OutputClaim($0, inputs: inputs) }
        defer { claim?.end() }
        let isEqual = try bisect ? searched() : compared()
        guard isEqual else { throw ExitStatus.toleranceExceeded.exit }
    }

    private func compared() throws -> Bool {
        let images = html.map { _ in VerificationImages() }
        let both = try models.prefix(2).map(opened)
        for model in both { noteFunction(of: model) }
        let diff = try comparison(both[0], both[1], images)
        if let html { try DiffPage(diff, images).write(to: html) }
        if json {
            try Console.printJSON(diff)
        } else {
            for line in diff.lines(allLayers: layers) { Console.print(line) }
        }
        return diff.isEqual
    }

    private func opened(_ path: String) throws -> Model {
        try Model(contentsOf: path, form: .file, execution: memory.execution)
    }
}

// MARK: Comparing

extension DiffCommand {
    private func comparison(
        _ first: Model, _ second: Model, _ images: VerificationImages?
    ) throws -> ModelDiff {
        let second = try inForm(of: first, second)
        let first = try inForm(of: second, first)
        var diff = try ModelDiff(first, second)
        guard !comparesFilesOnly else { return diff }
        // Before: a file of inputs that does not fit is not a difference of the models.
        let inputs = try input.inputs(
            of: second.interface,
            shapes: ModelDiff.inputShapes(of: first, second, size: input.size), model: second.name)
        do {
            diff.numbers = try numbers(first, second, on: inputs, images)
        } catch let error as VerificationError where diff.explains(error) {
            diff.obstacle = [error.file, error.rule].filter { !$0.isEmpty }.joined(separator: ": ")
        }
        return diff
    }

    /// A model with such inputs as another one; as it is if that is not possible, which is then a
    /// difference, unless it only takes a range to be stated.
    private func inForm(of other: Model, _ model: Model) throws -> Model {
        do {
            return try model.inForm(of: other, range: input.range, results: input.outputRange)
        } catch {
            guard input.range != nil || comparesFilesOnly else { throw error }
            return model
        }
    }

    private func numbers(
        _ first: Model, _ second: Model, on inputs: VerificationInputs,
        _ images: VerificationImages?
    ) throws -> VerificationReport {
        var options = VerificationOptions(
            compute: compute,
            bounds: bounds.replacing(
                .standard(
                    ModelDiff.coarser(first, second), compute: compute, isSameNetwork: true,
                    isColorizer: try first.interface.isColorizer,
                    measuresRounding: bounds.measuresRounding)))
        if let images { options.onColors = { images.add($0) } }
        return try second.verify(against: first, on: inputs, options: options)
    }
}

extension ModelDiff {
    /// Whether models cannot be compared because of what they take and return, and not because one
    /// of them cannot be run at all.
    fileprivate func explains(_ error: VerificationError) -> Bool {
        error.kind == .mismatch
            || error.kind == .badModel && !interface.isEmpty && operations.obstacle == nil
    }
}

// MARK: Bisection

extension DiffCommand {
    /// What a bisection has found.
    private struct Bisection: Encodable {
        struct Step: Encodable {
            let file: String
            let isEqual: Bool
        }

        var steps: [Step] = []
        var firstDifferent: String?
    }

    private func searched() throws -> Bool {
        let first = try opened(models[0])
        var bisection = Bisection()
        let found = try ModelBisection.firstDifferent(of: models.count) { index in
            let diff = try comparison(first, opened(models[index]), nil)
            bisection.steps.append(.init(file: models[index], isEqual: diff.isEqual))
            if !json { Console.print(diff.step) }
            return !diff.isEqual
        }
        bisection.firstDifferent = found.map { models[$0] }
        if json {
            try Console.printJSON(bisection)
        } else {
            for line in result(found) { Console.print(line) }
        }
        return found == nil
    }

    private func result(_ found: Int?) -> [String] {
        guard let found else {
            return ["\(models[models.count - 1]) does not differ from \(models[0])"]
        }
        return [
            "\(models[found]) is the first that differs from \(models[0])",
            "what it changed: retint diff \(models[found - 1]) \(models[found])",
        ]
    }
}

extension ModelDiff {
    /// The result of a step of a bisection in one line.
    fileprivate var step: String {
        "\(second.file): \(isEqual ? "equal" : "differs")" + (figures.map { ", \($0)" } ?? "")
    }

    /// The first bound that is exceeded, or the largest errors; nil without a run.
    private var figures: String? {
        if let obstacle { return obstacle }
        guard let numbers else { return nil }
        if let first = numbers.failures.first { return first }
        let errors = numbers.outputs.map { output in
            "\(output.name): max |e| \(Format.significant(output.metrics.maxAbs)), SNR "
                + "\(Format.fixed(output.metrics.snr, 2)) dB"
        }
        return errors.joined(separator: "; ")
    }
}
