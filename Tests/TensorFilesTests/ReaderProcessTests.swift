import CRetintSystem
import Foundation
import RetintFiles
import RetintTestSupport
import Testing

@testable import RetintTensorFiles

/// Requests through a socket, answered by a thread in place of a process. The processes themselves
/// are tested with `retint`, see IsolationTests.
@Suite struct ReaderProcessTests {
    @Test(arguments: ["flat", "nested", "chunked", "types", "reference", "user-block"])
    func answersAreThoseOfThisProcess(file: String) throws {
        let path = golden(file)
        let here = try HDF5Reader(path: path)
        let there = try HDF5Reader(RegularFile(path), .default, served())
        _ = try there.source.answer(.open(path: path, opened: path, limits: .default))
        #expect(try here.datasetNames() == there.datasetNames())
        #expect(try here.attributes() == there.attributes())
        for name in try here.datasetNames() where name != "half.special" {
            #expect(try here.read(name) == there.read(name), "\(name)")
            #expect(there.contains(name))
        }
        #expect(!there.contains("nothing"))
        let errors = [here, there].map { reader in failure { _ = try reader.read("nothing") } }
        #expect(errors[0] != nil && errors[0] == errors[1])
    }

    @Test func attributesThatAreNotFiniteArrive() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("a.h5")
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute("values", to: .doubles([.infinity, -.infinity, 0.1]))
        try writer.finish()
        let reader = try HDF5Reader(RegularFile(path), .default, served())
        _ = try reader.source.answer(.open(path: path, opened: path, limits: .default))
        #expect(try reader.attributes()["values"] == .doubles([.infinity, -.infinity, 0.1]))
    }

    @Test func confusedProcessIsAnError() throws {
        let crash = [UInt8](repeating: 255, count: 8)
        let twoBytes: [UInt8] = [2] + [UInt8](repeating: 0, count: 15)
        let replies: [(bytes: [UInt8], phrase: String)] = [
            ([], "was killed"), ([1, 2, 3], "was killed"),
            ([11, 0, 0, 0, 0, 0, 0, 0] + crash, "(signal 11)"),
            ([24, 0, 0, 0, 0, 0, 0, 0] + crash, "within 8 s"),
            // Sizes beyond all bounds; JSON that says nothing; none at all.
            ([UInt8](repeating: 127, count: 16), "was killed"),
            (twoBytes + Array("{}".utf8), "was killed"),
            (twoBytes + Array("!!".utf8), "impossible results"),
        ]
        for (bytes, phrase) in replies {
            var sockets: [Int32] = [-1, -1]
            try #require(processes_socket_pair(&sockets) == 0)
            #expect(processes_send(sockets[1], bytes, bytes.count) == 0)
            shutdown(sockets[1], Int32(SHUT_WR))
            let source = ReaderProcess("some.h5", sockets[0])
            var error = failure { _ = try source.answer(.contains([])) }
            #expect(error?.kind == .damaged && error?.file == "some.h5")
            #expect(error?.description.contains(phrase) == true, "\(error as Any)")
            close(sockets[1])
            // What ended the process is said again, not that it is gone.
            guard bytes.suffix(crash.count) == crash[...] else { continue }
            error = failure { _ = try source.answer(.contains([])) }
            #expect(error?.description.contains(phrase) == true, "\(error as Any)")
        }
    }

    /// Tables that a confused process sends: cut short, longer, or with any byte changed.
    @Test(arguments: ["nested", "chunked", "types"])
    func damagedTablesAreRefusedOrRead(file: String) throws {
        let path = golden(file)
        let service = HDF5Service()
        _ = try service.answer(.open(path: path, opened: path, limits: .default))
        let bytes = try DatasetTable.encode(service.answer(.datasets(group: [])).datasets)
        #expect(try DatasetTable.encode(DatasetTable.decode(bytes)) == bytes)
        for count in 0..<bytes.count {
            #expect(throws: (any Error).self) {
                try DatasetTable.decode(Array(bytes.prefix(count)))
            }
        }
        #expect(throws: DatasetTable.Nonsense.self) { try DatasetTable.decode(bytes + [0]) }
        for index in bytes.indices {
            for value: UInt8 in [1, 127, 255] {
                var changed = bytes
                changed[index] = changed[index] &+ value
                let entries = try? DatasetTable.decode(changed)
                #expect(entries.map { $0.count <= changed.count / 8 } ?? true)
            }
        }
    }

    /// A source whose requests a thread answers.
    private func served() throws -> ReaderProcess {
        var sockets: [Int32] = [-1, -1]
        try #require(processes_socket_pair(&sockets) == 0)
        let socket = sockets[1]
        Thread.detachNewThread { ReaderServer.answer(ReaderChannel(socket)) }
        return ReaderProcess("", sockets[0])
    }
}
