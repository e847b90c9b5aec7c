import RetintCommandSupport
import RetintTestSupport
import Testing

/// `retint inspect --placement`.
@Suite(.sampled()) struct PlacementCommandTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private func package(_ precision: String) throws -> String {
        let model = try bench.makeCheckpoint()
        let name = "\(precision).mlpackage"
        try bench.expect(0, "export", model, "-o", name, "--precision", precision, "--size", "64")
        return name
    }

    @Test func saysThatItIsNoMeasurement() throws {
        let text = try bench.expect(0, "inspect", package("float32"), "--placement").output
        #expect(text.contains("rules, not a measurement: only Core ML on a device knows"))
        #expect(text.contains("advice: Export with float16 precision"))
        #expect(text.contains("source: Apple: coremltools guide, Typed Execution"))
        #expect(try !bench.expect(0, "inspect", "float32.mlpackage").output.contains("rules"))
    }

    @Test func givesAllInJSON() throws {
        let package = try package("float16")
        let object = try bench.json(bench.expect(0, "inspect", package, "--placement", "--json"))
        let placement = try #require(object["placement"] as? [String: Any])
        #expect((placement["notice"] as? String)?.hasPrefix("rules, not a measurement") == true)
        #expect((placement["operations"] as? Int ?? 0) > 40)
        let rules = try #require(placement["rules"] as? [[String: Any]])
        let findings = try #require(placement["findings"] as? [[String: String]])
        for rule in rules {
            let id = try #require(rule["id"] as? String)
            #expect(rule["count"] as? Int == findings.count { $0["rule"] == id }, "\(id)")
            #expect(["refused", "slow", "wrong"].contains(rule["consequence"] as? String))
            #expect((rule["sources"] as? [String])?.isEmpty == false)
        }
        #expect(rules.contains { $0["id"] as? String == "float32" && $0["count"] as? Int == 0 })
        let plain = try bench.json(bench.expect(0, "inspect", package, "--json"))
        #expect(plain["placement"] == nil)
    }

    @Test func goesWithAPackage() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            64, "inspect", model, "--placement", says: ["--placement needs a package"])
    }
}
