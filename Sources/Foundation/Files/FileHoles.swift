import Glibc
import SystemPackage

extension RegularFile {
    /// Smaller files are read whatever is in them: reading them takes little memory.
    private static let smallBytes = 16 << 20
    /// The size of a file for each byte of it that is stored, at most.
    private static let largestExpansion = 4
    /// What Glibc's module leaves out of `lseek`: the next byte that is stored, and the next that
    /// is not.
    private static let (seekData, seekHole): (Int32, Int32) = (3, 4)
    /// The parts that are looked at: that many are of a file with much content.
    private static let maximumParts = 1 << 16

    /// Refuses a large file that consists of holes, which take no space on the disk but as much
    /// memory as other bytes: a file of a few kilobytes could use up all memory.
    ///
    /// File systems without holes say that all of a file is stored.
    static func requireContent(
        of descriptor: Int32, _ byteCount: Int, _ path: FilePath
    ) throws(FileError) {
        guard byteCount > smallBytes else { return }
        let stored = storedBytes(of: descriptor, byteCount, upTo: byteCount / largestExpansion)
        guard stored < byteCount / largestExpansion else { return }
        throw FileError(
            path: path.string, operation: "read",
            reason: "of its \(byteCount) bytes, only \(stored) are stored, and the rest are holes",
            remedy: "if it is whole, fill the holes with cp --sparse=never; "
                + "otherwise copy it again")
    }

    /// The bytes that are not holes; counted until there are `limit`.
    private static func storedBytes(
        of descriptor: Int32, _ byteCount: Int, upTo limit: Int
    ) -> Int {
        var (stored, place, parts) = (0, 0, 0)
        while place < byteCount, stored < limit, parts < maximumParts {
            let start = lseek(descriptor, place, seekData)
            // After the last data, the error is ENXIO; any other one says nothing about holes.
            guard start >= 0 else { return errno == ENXIO ? stored : byteCount }
            let end = lseek(descriptor, start, seekHole)
            guard end > start else { return byteCount }
            stored += end - start
            (place, parts) = (end, parts + 1)
        }
        return parts < maximumParts ? stored : byteCount
    }
}
