import Retint
import RetintNetworks
import RetintTestSupport
import Testing

@testable import RetintCLI

/// The exit codes that the library's errors bring about.
@Suite(.sampled()) struct ExitStatusTests {
    struct Row: CustomTestStringConvertible {
        let status: RetintCLI.ExitStatus
        let kinds: [any RefusalKind]

        var testDescription: String { "\(status)" }
    }

    private static let table = [
        Row(
            status: .wrongUsage,
            kinds: [
                Fault.usage, CheckpointProblem.badOption, ConversionProblem.option,
                ModelProblem.size, ModelProblem.style, PhotoProblem.packed, PhotoProblem.output,
                PhotoProblem.corners,
                BenchmarkProblem.option, BenchmarkProblem.notTrainable, TrainingProblem.runExists,
                TrainingProblem.setting, VideoProblem.outputName,
                ColorizerProblem.unknownArchitecture("vgg"),
                ColorizerProblem.needsDefinition("onnx"),
            ]),
        Row(
            status: .badInput,
            kinds: [
                Fault.input, FileError(path: "a", operation: "read").kind,
                TensorFileProblem.unreadable, TensorFileProblem.otherFormat,
                TensorFileProblem.damaged, TensorFileProblem.refused, TensorFileProblem.notFound,
                TensorFileProblem.mismatch, ImageProblem.file, ImageProblem.format,
                ImageProblem.limit, ImageProblem.damaged, MLPackageProblem.damaged,
                CheckpointProblem.notACheckpoint, CheckpointProblem.newerFormat,
                CheckpointProblem.malformed, CheckpointProblem.differentNetworks,
                ConversionProblem.model, ONNXProblem.unusable, ModelProblem.notAColorizer,
                ModelProblem.inputs, ModelProblem.outputSize, ModelProblem.nonFinite,
                ModelProblem.notRunnable, PhotoProblem.notAPack, PhotoProblem.shard,
                PhotoProblem.none, PhotoProblem.mask, PhotoProblem.outside,
                PhotoProblem.boxes,
                BenchmarkProblem.measurements, TrainingProblem.noPhotos,
                TrainingProblem.cannotResume, TrainingProblem.configuration,
                TrainingProblem.ranksDiffer, FrameProblem.format, FrameProblem.planes,
                VideoProblem.unreadable, AppleRuntimeProblem.otherFormat,
                AppleRuntimeProblem.failed, VerificationProblem.badReference,
                VerificationProblem.mismatch, VerificationProblem.badModel,
                VerificationProblem.badResults, ColorScienceProblem.size,
            ]),
        Row(
            status: .failed,
            kinds: [
                Fault.failure, FileError(path: "a", operation: "write").kind,
                FileError(path: "a", operation: "create").kind, TensorFileProblem.unwritable,
                ImageProblem.unwritable, MLPackageProblem.unwritable,
                TrainingProblem.notFinite, FrameProblem.truncated,
                FrameProblem.damaged, VideoProblem.programMissing, VideoProblem.damaged,
                VideoProblem.unwritable, AppleRuntimeProblem.unavailable,
                AppleRuntimeProblem.timedOut, RankProblem.connection,
                GraphError(operation: "add", reason: "shapes differ").kind,
            ]),
    ]

    @Test(arguments: table)
    func followsFromTheFaultAlone(_ row: Row) {
        for kind in row.kinds {
            func status<Kind: RefusalKind>(_ kind: Kind) -> RetintCLI.ExitStatus? {
                RetintCLI.ExitStatus(for: Refusal(kind, "a rule; a way out"))
            }
            #expect(status(kind) == row.status, "\(kind)")
        }
    }

    @Test func errorsOfOthersHaveNone() {
        #expect(ExitStatus(for: CancellationError()) == nil)
    }

    /// Of several files: the input's fault only if it is that in all.
    @Test func severalErrorsAreOneFault() {
        let (bad, failed) = (CommandError(.input, "a"), CommandError(.failure, "b"))
        #expect(Fault(ofAll: [bad, bad]) == .input)
        #expect(Fault(ofAll: [bad, failed]) == .failure)
        #expect(Fault(ofAll: [bad, CancellationError()]) == .failure)
    }

    /// Each flag that an error names is one of a command.
    @Test(arguments: Remedy.Parameter.allCases)
    func remediesNameFlags(_ parameter: Remedy.Parameter) {
        let help = RetintCommand.configuration.subcommands.map {
            $0.helpMessage(includeHidden: true, columns: 200)
        }
        let names = help.contains {
            $0.split { " ,/\n".contains($0) }.contains {
                $0 == parameter.flag.split(separator: " ").last ?? ""
            }
        }
        #expect(names, "\(parameter.flag)")
    }
}
