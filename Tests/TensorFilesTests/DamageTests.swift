import Foundation
import RetintTensorFiles
import RetintTestSupport
import Testing

/// Damaged files are read or refused; whatever is read has the shape that it says.
@Suite struct DamageTests {
    static let files = ["flat", "nested", "chunked", "types", "reference", "user-block"]

    @Test(arguments: files)
    func truncations(file: String) throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: golden(file))
        let path = scratch.path("damaged.h5")
        for count in stride(from: 0, to: whole.count, by: max(whole.count / 200, 1)) {
            try write(Array(whole.prefix(count)), to: path)
            let error = try #require(failure { try readAll(path) }, "\(count) bytes")
            #expect(error.file == path)
        }
    }

    /// Libhdf5's words about its own parts are no help: what to do stands beside them.
    @Test func damageIsSaidInPlainWords() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("damaged.h5")
        let whole = try bytes(of: golden("nested"))
        var otherVersion = whole
        otherVersion[8] = 77
        for damaged in [Array(whole.prefix(whole.count / 2)), otherVersion] {
            try write(damaged, to: path)
            let error = try #require(failure { _ = try HDF5Reader(path: path) })
            #expect(error.kind == .damaged && error.file == path)
            let plain = "cannot be opened: the file is damaged or incomplete (libhdf5: "
            #expect(error.rule.hasPrefix(plain), "\(error)")
            #expect(error.remedy == "copy or download it again")
        }
    }

    /// Every byte of the small files and every seventh of the others, turned over in two ways.
    ///
    /// libhdf5 1.10.8 itself can crash on a damaged header without checksum, and takes the whole
    /// test run with it. `retint` keeps it in child processes, but the tests have threads before
    /// they could fork one, so this runs on request alone.
    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["RETINT_FLIP_BYTES"] != nil),
        arguments: files)
    func flippedBytes(file: String) throws {
        let scratch = try TemporaryFolder()
        let whole = try bytes(of: golden(file))
        let path = scratch.path("damaged.h5")
        for position in stride(from: 0, to: whole.count, by: whole.count < 4096 ? 1 : 7) {
            for mask: UInt8 in [0xff, 1 << UInt8(position % 8)] {
                var damaged = whole
                damaged[position] ^= mask
                try write(damaged, to: path)
                _ = failure { try readAll(path) }
            }
        }
        #expect(try StateDict(contentsOf: golden("flat")).count == 3)
    }

    private func readAll(_ path: String) throws {
        let reader = try HDF5Reader(path: path)
        var first: (any Error)?
        do { _ = try reader.attributes() } catch { first = error }
        for name in try reader.datasetNames() {
            do {
                let tensor = try reader.read(name)
                #expect(tensor.shape.count == tensor.elements.count)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }
}
