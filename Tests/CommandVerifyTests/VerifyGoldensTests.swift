import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// What an earlier retint saved is read, and judged and printed as it was then.
/// `Goldens/verify/record.sh` recorded it.
@Suite(.sampled()) struct VerifyGoldensTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private func golden(_ name: String) throws -> String {
        try String(contentsOfFile: goldenPath("verify/\(name)"), encoding: .utf8)
    }

    private func written(_ name: String) throws -> String {
        try String(contentsOfFile: bench.path(name), encoding: .utf8)
    }

    /// A diagnosis by stages and sources, one by a smallest part, and two judges.
    @Test(arguments: ["results", "reduced", "judges"])
    func everyRenderingIsAsItWas(_ name: String) throws {
        _ = try bench.write(Data(golden("\(name).json").utf8), to: "\(name).json")
        let arguments = ["verify", "\(name).json"]
        let text = try bench.run(arguments + ["--junit", "a.xml", "--sarif", "a.sarif"])
        #expect(text.code == (name == "judges" ? 65 : 2), "\(text.messages)")
        #expect(try text.output == golden("\(name).txt"))
        #expect(try written("a.xml") == golden("\(name).xml"))
        #expect(try written("a.sarif") == golden("\(name).sarif"))
        let summary = try bench.run(arguments + ["--json"])
        #expect(try summary.output == golden("\(name).out.json"))
    }
}
