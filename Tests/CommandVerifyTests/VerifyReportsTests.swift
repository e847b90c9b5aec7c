import Foundation
import FoundationXML
import RetintCommandSupport
import RetintTestSupport
import Testing

/// The reports that `retint verify` writes for other programs.
@Suite(.sampled()) struct VerifyReportsTests {
    private let bench: CommandBench
    /// A name with characters that XML, JSON and URIs escape.
    private static let model = "half <&> \"ü\" %.mlpackage"

    init() throws {
        bench = try CommandBench()
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "export", model, "-o", Self.model, "--precision", "float16", "--size", "64")
    }

    private func verify(_ code: Int32, _ bounds: String...) throws {
        let result = try bench.run(
            ["verify", Self.model, "--against", "model.h5", "--junit", "a.xml"]
                + ["--sarif", "a.sarif"] + bounds)
        #expect(result.code == code, "\(result.messages)")
    }

    private func junit() throws -> XMLElements {
        try XMLElements(Data(contentsOf: URL(fileURLWithPath: bench.path("a.xml"))))
    }

    @Test func junitHasACaseForEachBound() throws {
        try verify(2, "--min-psnr", "500", "--min-snr", "1", "--max-delta-e", "100")
        let elements = try junit()
        for name in ["testsuites", "testsuite"] {
            let suite = try #require(elements[name].first)
            #expect(suite["tests"] == "4" && suite["failures"] == "1" && suite["errors"] == "0")
        }
        #expect(elements["testsuite"][0]["name"] == "\(Self.model) against model.h5")
        let cases = elements["testcase"]
        #expect(cases.allSatisfy { $0["classname"] == "retint.verify" && $0["file"] == Self.model })
        #expect(
            cases.map { $0["name"] } == [
                "\(Self.model): ab: finite", "\(Self.model): ab: psnr", "\(Self.model): ab: snr",
                "\(Self.model): colors: delta-e2000",
            ])
        let failures = elements["failure"]
        #expect(failures.count == 1 && failures[0]["type"] == "psnr")
        let message = try #require(failures[0]["message"])
        #expect(message.hasPrefix("the PSNR ") && message.hasSuffix("dB is below 500 dB"))
        let names = elements["property"].compactMap { $0["name"] }
        #expect(names.contains("processor") && names.contains("tolerance"))
    }

    @Test func junitHasACaseForEachLayerThatDecides() throws {
        try verify(2, "--layer-min-snr", "500")
        let elements = try junit()
        let failed = elements["failure"].filter { $0["type"] == "layer-snr" }
        #expect(failed.count > 50 && elements["testcase"].count >= failed.count + 2)
    }

    /// What SARIF 2.1.0 and GitHub's code scanning require.
    @Test func sarifHasAResultForEachFailure() throws {
        try verify(2, "--min-psnr", "500", "--max-mean", "0")
        let log = try log()
        #expect(SARIFRules.log.faults(log).isEmpty)
        #expect(log["version"] as? String == "2.1.0" && log["$schema"] is String)
        let run = try #require((log["runs"] as? [[String: Any]])?.first)
        let tool = try #require(run["tool"] as? [String: [String: Any]])
        #expect(tool["driver"]?["name"] as? String == "retint")
        let rules = try #require(tool["driver"]?["rules"] as? [[String: Any]])
        let ids = rules.compactMap { $0["id"] as? String }
        #expect(ids.count == rules.count && Set(ids).count == ids.count)
        #expect(rules.allSatisfy { ($0["shortDescription"] as? [String: String])?["text"] != nil })
        let results = try #require(run["results"] as? [[String: Any]])
        #expect(results.compactMap { $0["ruleId"] as? String } == ["mean-error", "psnr"])
        for result in results {
            #expect(result["level"] as? String == "error")
            let index = try #require(result["ruleIndex"] as? Int)
            #expect(ids[index] == result["ruleId"] as? String)
            let text = (result["message"] as? [String: String])?["text"]
            #expect(text?.hasPrefix("ab: the ") == true)
            #expect(text?.contains(", by retint's CPU engine (not Apple's") == true)
            let place = try #require((result["locations"] as? [[String: Any]])?.first)
            let physical = try #require(place["physicalLocation"] as? [String: [String: Any]])
            #expect(
                physical["artifactLocation"]?["uri"] as? String
                    == "half%20%3C%26%3E%20%22%C3%BC%22%20%25.mlpackage")
            #expect(physical["region"]?["startLine"] as? Int == 1)
        }
        let prints = results.compactMap { $0["partialFingerprints"] as? [String: String] }
        #expect(Set(prints.compactMap { $0["primaryLocationLineHash"] }).count == 2)
    }

    /// A log without results closes the alerts of the last one.
    @Test func whatPassesHasNoFailures() throws {
        try verify(0, "--save", "results.json")
        #expect(try junit()["failure"].isEmpty)
        #expect(SARIFRules.log.faults(try log()).isEmpty)
        let run = try #require((log()["runs"] as? [[String: Any]])?.first)
        #expect((run["results"] as? [Any])?.isEmpty == true)
        let before = try Data(contentsOf: URL(fileURLWithPath: bench.path("a.xml")))
        try bench.expect(0, "verify", "results.json", "--junit", "b.xml", "--sarif", "b.sarif")
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("b.xml"))) == before)
    }

    /// Values that are outside the tolerance have a color of their own; equal ones have 200 dB.
    @Test func nodeDataHasTheSNROfEachComparedValue() throws {
        try verify(2, "--layer-min-snr", "90", "--overlay", "nodes.json", "--save", "r.json")
        let data = try object("nodes.json")
        let results = try #require(data["results"] as? [String: [String: Any]])
        let saved = try #require(try object("r.json")["predicate"] as? [String: Any])
        let judge = try #require((saved["judges"] as? [[String: Any]])?.first)
        let layers = try #require(judge["layers"] as? [[String: Any]])
        var compared = 0
        for layer in layers {
            let name = try #require(layer["name"] as? String)
            let result = results[name]
            guard let error = layer["error"] as? [String: Any] else {
                #expect(result == nil, "\(name)")
                continue
            }
            compared += 1
            let snr = error["snr"] as? Double ?? .infinity
            #expect(result?["value"] as? Double == min(max(snr, 0), 200), "\(name)")
            #expect((result?["bgColor"] as? String == "#a50026") == (snr < 90), "\(name): \(snr)")
        }
        #expect(compared > 50 && compared == results.count)
        let thresholds = try #require(data["thresholds"] as? [[String: Any]])
        #expect(thresholds.compactMap { $0["value"] as? Int } == [20, 40, 60, 100, 200])
        // The same from saved results.
        #expect(try bench.run(["verify", "r.json", "--overlay", "again.json"]).code == 2)
        #expect(try object("again.json") as NSDictionary == data as NSDictionary)
    }

    @Test func aPackageIsAnnotatedAsONNX() throws {
        try verify(2, "--layer-min-snr", "90", "--overlay", "copy.onnx")
        let shown = try bench.json(bench.expect(0, "inspect", "copy.onnx", "--json"))
        let metadata = try #require(shown["metadata"] as? [String: String])
        #expect(metadata["retint.model"] == Self.model && metadata["retint.passed"] == "false")
        #expect(metadata["retint.first_outside_tolerance"] != nil)
        // The copy computes what the package does.
        try bench.expect(
            0, "verify", "copy.onnx", "--against", Self.model, "--size", "64", "--min-psnr", "50")
    }

    @Test func overlaysThatCannotBeWrittenAreRefused() throws {
        try verify(64, "--overlay", "nodes.txt")
        try verify(64, "--save", "same.json", "--overlay", "same.json")
        try bench.expect(
            65, "verify", "model.h5", "--against", "model.h5", "--overlay", "copy.onnx")
        try verify(0, "--save", "r.json")
        let result = try bench.run(["verify", "r.json", "--overlay", "copy.onnx"])
        #expect(result.code == 64 && result.messages.contains("name the model instead"))
        #expect(!FileManager.default.fileExists(atPath: bench.path("copy.onnx")))
    }

    private func log() throws -> [String: Any] { try object("a.sarif") }

    private func object(_ file: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: bench.path(file)))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}

/// The attributes of the elements of an XML document, by name.
private final class XMLElements: NSObject, XMLParserDelegate {
    private var found: [String: [[String: String]]] = [:]

    /// Fails unless the document is well-formed.
    init(_ data: Data) throws {
        super.init()
        let parser = XMLParser(data: data)
        parser.delegate = self
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
    }

    subscript(name: String) -> [[String: String]] { found[name] ?? [] }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        found[name, default: []].append(attributes)
    }
}
