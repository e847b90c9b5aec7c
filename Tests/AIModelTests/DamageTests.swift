import Foundation
import RetintFiles
import RetintMIL
import RetintMLPackage
import RetintTestSupport
import Testing

@testable import RetintAIModel

/// Damaged and hostile files load or are refused with their place; nothing traps.
@Suite struct DamageTests {
    private let scratch: TemporaryFolder
    private let path: String

    init() throws {
        scratch = try TemporaryFolder()
        path = scratch.path("victim.aimodel")
    }

    /// Puts a golden with changed bytes, and the hash of these, in the scratch folder.
    private func write(_ bytes: [UInt8], of name: String) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: path)
        try files.copyItem(atPath: goldenPath("\(name).aimodel"), toPath: path)
        var hash = ContentHash()
        hash.update(bytes)
        try Data(bytes).write(to: URL(filePath: path + "/main.mlirb"))
        try Data(hash.digest).write(to: URL(filePath: path + "/main.hash"))
    }

    private func program(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: goldenPath("\(name).aimodel") + "/main.mlirb")))
    }

    /// The words of a refusal; nil if everything can be read, elements of weights included.
    private func refusal() -> String? {
        do {
            let package = try MLPackage(contentsOfAIModel: path)
            for value in package.program.operations.compactMap(\.constantValue) {
                _ = try value.loaded()
            }
            return nil
        } catch let error as MLPackageError {
            return error.description
        } catch let error as ConversionError {
            return error.description
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    private static let programs = ["elementwise", "images", "invoked", "weights"]

    @Test(arguments: programs.sampled("truncated programs"))
    func everyTruncationIsRefused(name: String) throws {
        let whole = try program(name)
        for count in stride(from: 0, to: whole.count, by: max(1, whole.count / 300)) {
            try write(Array(whole.prefix(count)), of: name)
            let words = try #require(refusal(), "\(count) bytes")
            #expect(words.contains("victim.aimodel/main.mlirb: byte "), "\(words)")
        }
    }

    @Test(arguments: programs.sampled("damaged programs"))
    func anyByteMayBeWrong(name: String) throws {
        let whole = try program(name)
        var refusals = 0
        for index in stride(from: 0, to: whole.count, by: max(1, whole.count / 600)) {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = whole
                damaged[index] ^= change
                try write(damaged, of: name)
                if let words = refusal() {
                    refusals += 1
                    #expect(words.contains("victim.aimodel"), "\(words)")
                }
            }
        }
        #expect(refusals > 100)
    }

    /// Nine bytes, a number near 2⁶⁴, wherever a number may be.
    @Test(arguments: ["elementwise", "weights"])
    func anyNumberMayBeHuge(name: String) throws {
        let whole = try program(name)
        let huge: [UInt8] = [0, 0xF0] + [UInt8](repeating: 0xFF, count: 7)
        for index in stride(from: 18, to: whole.count - 9, by: max(1, whole.count / 600)) {
            var damaged = whole
            damaged.replaceSubrange(index..<index + 9, with: huge)
            try write(damaged, of: name)
            _ = refusal()
        }
    }

    /// Texts of the file and what may not stand there.
    @Test(arguments: [
        ("primitive.tanh_v1", "primitive.tanh_v9", "operation primitive.tanh_v9 at byte"),
        ("aicode\0", "aicodx\0", "its dialects are aicodx"),
        ("serialization.asset", "serialization.essat", "serialization.asset"),
        ("dataflow.output_v1", "dataflow.autput_v1", "dataflow.autput_v1"),
        ("dataflow.graph_v1", "dataflow.groph_v1", "dataflow.groph_v1 is unknown"),
        ("block\0", "blick\0", ""), ("x\0", "\u{1}\0", ""),
    ])
    func namesAreChecked(old: String, new: String, rule: String) throws {
        var bytes = try program("invoked")
        let range = try #require(bytes.firstRange(of: Array(old.utf8)))
        bytes.replaceSubrange(range, with: Array(new.utf8))
        try write(bytes, of: "invoked")
        guard !rule.isEmpty else { return #expect(refusal() == nil) }
        let words = refusal() ?? "nothing"
        #expect(words.contains(rule), "\(words)")
    }

    /// Positions near the start of the file and what may not stand there.
    @Test(arguments: [
        (0, UInt8(0), "byte 0: it is not MLIR bytecode"),
        (4, 0x0B, "byte 4: its bytecode has version 5"),
        (4, 0x0F, "version 7"), (19, 0x13, "byte 19: section 19 is unknown"),
    ])
    func headersAreChecked(offset: Int, value: UInt8, rule: String) throws {
        var bytes = try program("invoked")
        bytes[offset] = value
        try write(bytes, of: "invoked")
        let words = refusal() ?? "nothing"
        #expect(words.contains(rule), "\(words)")
    }

    @Test func versionsOfTheDialectAreKnown() throws {
        var bytes = try program("invoked")
        // The version is a section of its own: number 7, one byte.
        let range = try #require(bytes.firstRange(of: [7, 3, 5]))
        bytes[range.lowerBound + 2] = 7
        try write(bytes, of: "invoked")
        #expect(refusal()?.contains("dialect aicode is 3; 2 is read") == true)
    }

    @Test func hashesAreCompared() throws {
        try write(try program("half"), of: "half")
        #expect(refusal() == nil)
        try Data([UInt8](repeating: 7, count: 32)).write(to: URL(filePath: path + "/main.hash"))
        #expect(refusal()?.contains("main.hash: it is not the SHA-256 of main.mlirb") == true)
        try FileManager.default.removeItem(atPath: path + "/main.hash")
        #expect(refusal()?.contains("main.hash") == true)
    }

    @Test(arguments: [
        ("\"2.0\"", "\"3.0\"", "assetVersion: 3.0 is not supported; 2.0 is"),
        ("\"assetVersion\"", "\"assetVirsion\"", "it is not the metadata of an .aimodel"),
        ("{", "[", "it is not the metadata of an .aimodel"),
    ])
    func metadataIsChecked(old: String, new: String, rule: String) throws {
        try write(try program("half"), of: "half")
        let file = path + "/metadata.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let changed = text.replacingOccurrences(of: old, with: new)
        #expect(changed != text)
        try changed.write(toFile: file, atomically: true, encoding: .utf8)
        let words = refusal() ?? "nothing"
        #expect(words.contains("metadata.json: ") && words.contains(rule), "\(words)")
    }

    @Test(arguments: ["main.mlirb", "main.hash", "metadata.json"])
    func linksAreRefused(name: String) throws {
        try write(try program("half"), of: "half")
        let outside = scratch.path("outside")
        try FileManager.default.moveItem(atPath: "\(path)/\(name)", toPath: outside)
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/\(name)", withDestinationPath: outside)
        #expect(refusal()?.contains("link") == true)
    }
}
