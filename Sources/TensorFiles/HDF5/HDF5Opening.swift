import CHDF5
import Files

/// An open file and its size.
struct HDF5OpenFile: ~Copyable {
    let handle: HDF5Handle
    let byteCount: Int
}

/// Checks a file before libhdf5 opens it, so that common mistakes get a clear error.
enum HDF5Opening {
    static func open(_ path: String) throws(TensorFileError) -> HDF5OpenFile {
        let file = try RegularFile.open(path)
        guard try TensorFileFormat(of: file) == .hdf5 else {
            throw TensorFileError(
                .otherFormat, path: path,
                "is a safetensors file where an HDF5 file is needed; "
                    + "`retint import` makes a checkpoint of weights")
        }
        let place = FilePlace(path)
        let access = try place.handle(chdf5_file_access(), "libhdf5 has no memory")
        H5Pset_fapl_sec2(access.id)
        H5Pset_fclose_degree(access.id, H5F_CLOSE_STRONG)
        H5Pset_file_locking(access.id, true, true)
        let handle = try place.handle(
            H5Fopen(path, chdf5_read_only(), access.id), "is damaged or breaks off")
        return HDF5OpenFile(handle: handle, byteCount: file.byteCount)
    }
}
