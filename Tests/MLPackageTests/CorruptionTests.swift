import Foundation
import RetintCoreMLProto
import RetintTestSupport
import SwiftProtobuf
import Testing

@testable import RetintMLPackage

/// Damaged packages load or are refused; nothing traps.
struct CorruptionTests {
    /// A package in a scratch directory whose parts can be changed one at a time.
    struct Victim {
        let scratch: TemporaryFolder
        let path: String

        init(_ name: String) throws {
            scratch = try TemporaryFolder()
            path = scratch.path("a.mlpackage")
            try FileManager.default.copyItem(atPath: Goldens.path(name), toPath: path)
        }

        /// Puts other bytes into a part, runs `body`, puts the old ones back.
        func with(_ part: String, _ bytes: [UInt8], _ body: () throws -> Void) throws {
            let original = try contents(path + "/" + part)
            try replace(path + "/" + part, bytes)
            try body()
            try replace(path + "/" + part, original)
        }

        /// Loads all of it and encodes it again, if it can be loaded.
        func exercise() -> MLPackageError? {
            do {
                let package = try loaded(try MLPackage(contentsOf: path))
                _ = try ProtoModel(package, weights: nil).serializedBytes() as [UInt8]
                return nil
            } catch let error as MLPackageError {
                return error
            } catch {
                Issue.record("\(error)")
                return nil
            }
        }
    }

    @Test(
        arguments: ["float16-iOS15", "int8-iOS16", "int4-iOS18"].sampled("damaged packages"),
        Part.all)
    func anyByteMayBeWrong(name: String, part: String) throws {
        let victim = try Victim(name)
        let bytes = try contents(victim.path + "/" + part)
        var refusals = 0
        for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 50)) {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] ^= change
                try victim.with(part, damaged) { if victim.exercise() != nil { refusals += 1 } }
            }
        }
        #expect(refusals > 0)
        #expect(victim.exercise() == nil)
    }

    @Test(arguments: Part.all) func anyLengthMayBeMissing(part: String) throws {
        let victim = try Victim("float16-iOS15")
        let bytes = try contents(victim.path + "/" + part)
        for count in stride(from: 0, to: bytes.count - 1, by: max(1, bytes.count / 150)) {
            try victim.with(part, Array(bytes.prefix(count))) {
                #expect(victim.exercise() != nil, "\(part) of \(count) bytes")
            }
        }
    }

    @Test func errorsSayWhere() throws {
        let victim = try Victim("float32-iOS15")
        let weights = try contents(victim.path + "/" + Part.weights)
        try victim.with(Part.weights, Array(weights.dropLast(200))) {
            let text = victim.exercise()?.description ?? ""
            #expect(text.contains("weight.bin") && text.contains("(const)"))
            #expect(text.contains("inside the file"))
        }
    }

    /// Offsets in a weight file and what may not stand there.
    @Test(arguments: [
        (0x04, [UInt8(3)], "version"), (0x40, [0], "DEADBEEF"), (0x44, [1], "type number"),
        (0x48, [0xFF, 0xFF], "bytes"), (0x4F, [0xFF], "bytes"), (0x57, [0x7F], "inside the file"),
        (0x57, [0xFF], "inside the file"), (0x50, [0x40], "after it"),
    ])
    func weightRecordsAreChecked(offset: Int, change: [UInt8], rule: String) throws {
        let victim = try Victim("float32-iOS15")
        var bytes = try contents(victim.path + "/" + Part.weights)
        bytes.replaceSubrange(offset..<offset + change.count, with: change)
        try victim.with(Part.weights, bytes) {
            #expect(victim.exercise()?.rule.contains(rule) == true)
        }
    }

    @Test(arguments: [
        ("com.apple.CoreML/model.mlmodel", "/etc/passwd", "absolute"),
        ("com.apple.CoreML/model.mlmodel", "", "empty"),
        ("com.apple.CoreML/model.mlmodel", "com.apple.CoreML/../../../a", ".."),
        ("com.apple.CoreML/weights", "..", ".."),
        ("com.apple.CoreML/weights", "com.apple.CoreML/wages", "no item"),
        ("com.apple.CoreML/model.mlmodel", "com.apple.CoreML/absent", "does not exist"),
        ("com.apple.CoreML/model.mlmodel", "com.apple.CoreML/weights", "is a directory"),
        ("\"1.0.0\"", "\"2.0.0\"", "1.0.0"), ("\"path\"", "\"road\"", "missing"),
        ("\"rootModelIdentifier\": \"", "\"rootModelIdentifier\": \"0", "name one of the items"),
        ("\"1.0.0\"", "1", "wrong type"), ("{", "[", "JSON"),
    ])
    func manifestsAreChecked(old: String, new: String, rule: String) throws {
        let victim = try Victim("float32-iOS15")
        let path = victim.path + "/" + Part.manifest
        let text = String(decoding: try contents(path), as: UTF8.self)
        let changed = text.replacingOccurrences(of: old, with: new)
        #expect(changed != text)
        try victim.with(Part.manifest, Array(changed.utf8)) {
            let error = victim.exercise()
            #expect(error?.rule.contains(rule) == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: Part.all + ["Data", "Data/com.apple.CoreML/weights"])
    func linksAreRefused(part: String) throws {
        let victim = try Victim("float32-iOS15")
        let outside = victim.scratch.path("outside")
        let inside = victim.path + "/" + part
        try FileManager.default.moveItem(atPath: inside, toPath: outside)
        try FileManager.default.createSymbolicLink(
            atPath: inside, withDestinationPath: outside)
        #expect(victim.exercise()?.rule.contains("link") == true)
    }
}
