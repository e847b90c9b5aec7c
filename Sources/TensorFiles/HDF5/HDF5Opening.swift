import CHDF5
import Foundation

/// A file open for reading, and its size.
struct HDF5OpenFile: ~Copyable {
    let handle: HDF5Handle
    let byteCount: Int
}

/// Looks at what stands under a path before libhdf5 does, so that what commonly goes wrong is said
/// plainly.
enum HDF5Opening {
    static func open(_ path: String) throws(TensorFileError) -> HDF5OpenFile {
        let byteCount = try regularFileSize(path)
        try checkFormat(path)
        let place = HDF5Place(path)
        let access = try place.handle(chdf5_file_access(), "libhdf5 has no memory")
        H5Pset_fapl_sec2(access.id)
        H5Pset_fclose_degree(access.id, H5F_CLOSE_STRONG)
        H5Pset_file_locking(access.id, true, true)
        let file = try place.handle(
            H5Fopen(path, chdf5_read_only(), access.id), "is damaged or breaks off")
        return HDF5OpenFile(handle: file, byteCount: byteCount)
    }

    private static func regularFileSize(_ path: String) throws(TensorFileError) -> Int {
        var status = stat()
        guard !path.isEmpty, !path.utf8.contains(0), stat(path, &status) == 0 else {
            let reason = String(cString: strerror(path.isEmpty ? ENOENT : errno))
            throw TensorFileError(.unreadable, path: path, "cannot be read: \(reason)")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            let what = isDirectory ? "is a directory" : "is not a regular file"
            throw TensorFileError(
                .unreadable, path: path, "\(what); give the path of an HDF5 file")
        }
        return Int(status.st_size)
    }

    private static func checkFormat(_ path: String) throws(TensorFileError) {
        let start = try firstBytes(path, count: 8)
        guard !start.isEmpty else {
            throw TensorFileError(.otherFormat, path: path, "is empty, not an HDF5 file")
        }
        // A user block may stand before the signature; libhdf5 looks for it.
        guard H5Fis_hdf5(path) <= 0 else { return }
        let isPyTorch = start.starts(with: [0x50, 0x4b, 3, 4]) || start.first == 0x80
        let way =
            isPyTorch
            ? ", but what torch.save writes; turn it into HDF5 with Scripts/export_pytorch.py" : ""
        throw TensorFileError(.otherFormat, path: path, "is not an HDF5 file\(way)")
    }

    private static func firstBytes(
        _ path: String, count: Int
    ) throws(TensorFileError) -> [UInt8] {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = descriptor < 0 ? -1 : read(descriptor, &bytes, count)
        guard got >= 0 else {
            let reason = String(cString: strerror(errno))
            throw TensorFileError(.unreadable, path: path, "cannot be read: \(reason)")
        }
        return Array(bytes.prefix(got))
    }
}
