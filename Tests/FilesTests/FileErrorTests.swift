import Glibc
import Testing

@testable import RetintFiles

/// The messages for a system's refusals, and what to do. Disks that are full or read-only, and the
/// limit on file sizes, are also tried by the commands' tests; a quota needs an administrator.
@Suite struct FileErrorTests {
    @Test(arguments: [
        (EDQUOT, "Disk quota exceeded; free some space or choose another disk"),
        (ENOSPC, "No space left on device; free some space or choose another disk"),
        (EROFS, "Read-only file system; choose another place"),
        (EFBIG, "File too large; raise the limit on file sizes (ulimit -f)"),
        (EIO, "Input/output error"),
    ])
    func saysTheWayOut(number: Int32, words: String) {
        let error = FileError(path: "a.h5", operation: "write", number: number)
        #expect("\(error)" == "a.h5: cannot write: \(words)")
    }
}
