import ArgumentParser
import Retint

// A verification as arguments of `retint verify`, so that saved results say how to run it again.
// What is only written or printed is left out.

extension VerifyCommand {
    /// What the verification is run on, with the files as they are now.
    ///
    /// - Parameter path: the file of saved results, from whose folder files are named.
    /// - Throws: `FileError` if a file cannot be read.
    func record(savedAt path: String) throws -> VerificationRecord {
        try record(namedFrom: VerificationRecord.folder(of: path))
    }

    /// - Parameter folder: the folder to which names of files are relative.
    func record(namedFrom folder: String) throws -> VerificationRecord {
        var named = self
        named.mapPaths { VerificationRecord.name(of: $0, from: folder) }
        return try VerificationRecord(
            subject: VerificationRecord.files(ofModel: model), inputs: readFiles,
            namedFrom: folder, arguments: named.arguments)
    }

    /// All files that are read besides the model.
    private var readFiles: [String] {
        get throws {
            let reference = try reference.map(VerificationRecord.files(ofReference:)) ?? []
            let other = try against.map(VerificationRecord.files(ofModel:)) ?? []
            return try reference + other + input.readFiles
        }
    }

    /// Replaces all paths that are read.
    mutating func mapPaths(_ change: (String) -> String) {
        model = change(model)
        reference = reference.map(change)
        against = against.map(change)
        input.mapPaths(change)
    }

    /// The same verification, which writes nothing but the packages of a diagnosis, to a folder,
    /// and starts no program that it names: whoever wrote the results is not trusted.
    mutating func confine(to folder: String) {
        outputs.intermediates = nil
        judging.judgePython = nil
        diagnosis.write(into: folder)
    }

    /// The arguments that give the same figures.
    var arguments: [String] {
        argument("reference", reference) + argument("against", against) + judging.arguments
            + input.arguments + bounds.arguments + argument("compute", compute?.rawValue)
            + diagnosis.arguments + argument("memory-limit", memory.memoryLimit)
            + argument("threads", threads) + ["--", model]
    }
}

/// `--name=value`; nothing without a value.
private func argument(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
    value.map { ["--\(name)=\($0)"] } ?? []
}

private func flag(_ name: String, _ isSet: Bool) -> [String] { isSet ? ["--\(name)"] : [] }

extension JudgeOptions {
    fileprivate var arguments: [String] {
        argument("judge", choice?.rawValue) + argument("judge-timeout", judgeTimeout)
            + argument("also", also?.rawValue)
    }
}

extension InputOptions {
    fileprivate var readFiles: [String] {
        get throws {
            let inputs = try inputFiles.flatMap { try VerificationInputs.files(at: $0) }
            return try files + directories.flatMap { try photoFiles(in: $0) } + inputs
        }
    }

    fileprivate mutating func mapPaths(_ change: (String) -> String) {
        files = files.map(change)
        directories = directories.map(change)
        inputFiles = inputFiles.map(change)
    }

    fileprivate var arguments: [String] {
        files.flatMap { argument("photo", $0) } + directories.flatMap { argument("photos", $0) }
            + inputFiles.flatMap { argument("inputs", $0) } + argument("range", range)
            + argument("output-range", outputRange)
            + argument("size", size.map(\.argument)) + noise.flatMap { argument("noise", $0.text) }
            + argument("seed", seed)
    }
}

extension ExportOptions.Size {
    /// As an option has it.
    fileprivate var argument: String { width == height ? "\(width)" : "\(width)x\(height)" }
}

extension NamedNoise {
    fileprivate var text: String { (input.map { "\($0)=" } ?? "") + "\(noise)" }
}

extension BoundOptions {
    fileprivate var arguments: [String] {
        argument("bound", bound?.rawValue) + argument("half-factor", halfFactor)
            + argument("atol", atol) + argument("rtol", rtol)
            + argument("max-relative", maxRelative) + argument("max-mean", maxMean)
            + argument("min-psnr", minPSNR) + argument("min-snr", minSNR)
            + argument("max-delta-e", maxDeltaE) + argument("layer-tolerance", maxLayerError)
            + argument("layer-min-snr", layerMinSNR)
    }
}

extension DiagnosisOptions {
    fileprivate var arguments: [String] {
        argument("stages", stages) + flag("error-sources", errorSources)
            + flag("find-precision", findPrecision) + argument("output", output)
            + argument("max-runs", maxRuns) + argument("reduce", reduce)
            + argument("arithmetics", arithmetics?.text) + flag("certify", certify)
    }

    /// The same diagnosis, whose packages are written to a folder, and no picture.
    mutating func write(into folder: String) {
        worstImage = nil
        output = output.map { _ in "\(folder)/output.mlpackage" }
        reduce = reduce.map { _ in "\(folder)/part.mlpackage" }
    }
}

extension ArithmeticChoice {
    fileprivate var text: String {
        switch self {
        case .drawn(let count): "\(count)"
        case .named(let arithmetic): "\(arithmetic)"
        }
    }
}
