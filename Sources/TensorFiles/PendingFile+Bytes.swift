import Files
import Glibc

extension PendingFile {
    /// Makes `bytes` the file's content.
    func write(_ bytes: UnsafeRawBufferPointer, _ place: HDF5Place) throws(TensorFileError) {
        let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(place) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, part.baseAddress, part.count)
            guard count >= 0 || errno == EINTR else { throw failure(place) }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    private func failure(_ place: HDF5Place) -> TensorFileError {
        place.error(.unwritable, "cannot be written: \(String(cString: strerror(errno)))")
    }
}
