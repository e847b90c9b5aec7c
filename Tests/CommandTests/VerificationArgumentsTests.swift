import Foundation
import Testing

@testable import RetintCLI

/// The arguments that saved results record: those that give the same figures.
@Suite struct VerificationArgumentsTests {
    /// What is only printed or written.
    private static let outputs: Set = [
        "layers", "json", "html", "save", "junit", "sarif", "intermediates", "overlay",
        "worst-image", "version", "help", "help-all", "judge-python",
    ]

    /// Command lines that have all options together, without the model.
    private static let lines: [[String]] = [
        [
            "--against=b.h5", "--judge=both", "--judge-timeout=9.5",
            "--photo=-a.png", "--photo=b.png", "--photos=c", "--range=-1..1",
            "--output-range=0..1", "--size=64",
            "--noise=x=uniform:0.0..2.0", "--noise=integers:1..3", "--seed=18446744073709551615",
            "--atol=0.001", "--rtol=1e-07", "--max-relative=0.5", "--max-mean=2.0",
            "--min-psnr=50.5", "--min-snr=49.0", "--max-delta-e=1.0", "--stages=written,folded",
            "--error-sources", "--reduce=part.mlpackage", "--memory-limit=100", "--threads=3",
            "--arithmetics=4", "--certify",
        ],
        [
            "--against=b.h5", "--inputs=x.npy", "--inputs=y", "--bound=fixed",
            "--layer-tolerance=0.1", "--layer-min-snr=9.0", "--find-precision",
            "--output=o.mlpackage", "--max-runs=7",
        ],
        ["--against=b.h5", "--bound=half", "--half-factor=3.0"],
        ["--reference=r.h5", "--compute=float16", "--also=cuda:1"],
    ]

    @Test(arguments: lines) func theyAreParsedAgain(_ line: [String]) throws {
        let arguments = try VerifyCommand.parse(line + ["--", "m.mlpackage"]).arguments
        #expect(Set(arguments) == Set(line + ["--", "m.mlpackage"]))
        #expect(try VerifyCommand.parse(arguments).arguments == arguments)
    }

    /// An option of the command that is neither recorded nor an output would be lost in a replay.
    @Test func everyOptionIsRecordedOrAnOutput() {
        let words = RetintCommand.helpMessage(
            for: VerifyCommand.self, includeHidden: true, columns: 200
        )
        .split(separator: "\n").compactMap {
            $0.firstMatch(of: /^  (?:-\w, )?--([\w-]+)/)?.output.1
        }
        let recorded = Self.lines.flatMap { $0 }.map {
            String($0.dropFirst(2).prefix { $0 != "=" })
        }
        #expect(words.count > 40)
        #expect(Set(words.map(String.init)) == Self.outputs.union(recorded))
    }

    /// Results of a stranger neither write files nor name a program to run.
    @Test func aReplayIsConfined() throws {
        var command = try VerifyCommand.parse([
            "--against=b.h5", "--judge=both", "--judge-python=evil", "--certify", "--worst-image",
            "a.png", "--reduce=p.mlpackage", "--intermediates", "x.aimodelintermediates", "m",
        ])
        command.confine(to: "/scratch")
        #expect(command.judging.judgePython == nil && command.outputs.intermediates == nil)
        #expect(command.diagnosis.files == ["/scratch/part.mlpackage", "/scratch/part.h5"])
    }

    @Test func pathsAreReplaced() throws {
        var command = try VerifyCommand.parse(Self.lines[0] + ["m.mlpackage"])
        command.mapPaths { "there/\($0)" }
        let changed = command.arguments
        for path in ["against=there/b.h5", "photo=there/-a.png", "photos=there/c"] {
            #expect(changed.contains("--\(path)"))
        }
        #expect(changed.last == "there/m.mlpackage")
    }
}
