import Foundation
import RetintFiles
import RetintTensorBoardProto
import SwiftProtobuf

/// A file of TensorBoard events. A record is the length of an event, its checksum, the event, and
/// its checksum (TensorFlow's `record_writer`), and is appended in one write.
final class EventFile {
    private let file: FileWriter

    /// Creates a file that starts with its version.
    init(_ path: String) throws {
        try AtomicFile.write([], to: path)
        file = try FileWriter(appendingTo: path)
        var first = Tensorboard_Event()
        first.fileVersion = "brain.Event:2"
        try append(first)
    }

    /// Appends an event with the current time.
    func append(_ event: Tensorboard_Event) throws {
        var event = event
        event.wallTime = Date().timeIntervalSince1970
        try file.append(Self.record(try event.serializedBytes()))
    }

    static func record(_ bytes: [UInt8]) -> [UInt8] {
        let length = littleEndian(UInt64(bytes.count))
        return length + littleEndian(maskedChecksum(length)) + bytes
            + littleEndian(maskedChecksum(bytes))
    }

    /// The CRC-32C, rotated and offset: a plain CRC is weak over data that contains its own CRCs.
    static func maskedChecksum(_ bytes: [UInt8]) -> UInt32 {
        let checksum = crc32c(bytes)
        return (checksum >> 15 | checksum << 17) &+ 0xA282_EAD8
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

/// The cyclic redundancy check with Castagnoli's polynomial (RFC 3720, appendix B.4).
func crc32c(_ bytes: [UInt8]) -> UInt32 {
    var checksum = ~UInt32(0)
    for byte in bytes {
        checksum = checksum >> 8 ^ crc32cTable[Int((checksum ^ UInt32(byte)) & 0xFF)]
    }
    return ~checksum
}

private let crc32cTable: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
        value & 1 == 1 ? value >> 1 ^ 0x82F6_3B78 : value >> 1
    }
}
