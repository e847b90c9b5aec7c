import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint verify --also cuda`, with libraries that compute on this machine.
@Suite(.sampled()) struct VerifyOnGPUTests {
    private let bench: CommandBench
    private static let run = ["verify", "half.mlpackage", "--against", "model.h5"]

    init() throws {
        MockCUDA.install()
        bench = try CommandBench()
        try bench.makeHalfPackage()
    }

    /// Both must pass, and each has its own figures.
    @Test func theGPUJudgesToo() throws {
        let also = Self.run + ["--also", "cuda"]
        let text = try bench.expect(0, also).output
        #expect(text.contains("retint's CPU engine") && text.contains("retint's CUDA backend"))
        #expect(text.hasSuffix("passed in all runtimes\n"))
        let saved = try bench.expect(0, also + ["--json", "--save", "r.json"])
        let judges = try #require(try bench.json(saved)["judges"] as? [[String: Any]])
        #expect(judges.map { $0["judge"] as? String } == ["retint", "cuda"])
        for judge in judges {
            #expect((judge["layers"] as? [Any])?.count ?? 0 > 10, "\(judge)")
        }
        // The figures are those of one engine each: what rounds differs.
        #expect("\(judges[0]["outputs"] ?? "")" != "\(judges[1]["outputs"] ?? "")")
        try bench.expect(0, "replay", "r.json")
        let strict = try bench.run(also + ["--min-snr", "500"])
        #expect(strict.code == 2 && strict.output.hasSuffix("FAILED\n"))
    }

    @Test(arguments: [
        (["--also", "cpu"], "must be cuda"), (["--also", "gpu"], "'gpu'"),
        (["--also", "cuda", "--find-precision", "-o", "o.mlpackage"], "--also"),
    ])
    func whatCannotBeAskedIsRefused(_ options: [String], _ words: String) throws {
        try bench.expect(64, Self.run + options, says: [words])
    }

    @Test func withoutAGPUTheErrorSaysWhatIsMissing() throws {
        let result = try bench.run(
            Self.run + ["--also", "cuda"], environment: ["RETINT_CUDA_LIBRARIES": "/nowhere"])
        #expect(result.code == 1 && result.messages.contains("libcuda"), "\(result.messages)")
    }
}
