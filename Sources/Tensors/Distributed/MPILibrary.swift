import CRetintDistributed
import Glibc
import RetintFiles

/// The library that `Scripts/setup --mpi` compiles for the machine's MPI, loaded at run time.
package struct MPILibrary: @unchecked Sendable {
    // The functions stay valid: the library is never unloaded.
    let functions: UnsafePointer<rt_mpi>
    /// Where it was found.
    package let path: String

    /// The environment variable that names the file.
    package static let variable = "RETINT_MPI_LIBRARY"
    private static let name = "libretint-mpi.so"
    /// How to make it, of a release and in a checkout.
    static let advice =
        "make it with the mpicc of that MPI: `mpicc -O2 -shared -fPIC -o lib/\(name) "
        + "share/retint/mpi/retint_mpi.c` in the folder of a release, Scripts/setup --mpi in a "
        + "checkout; \(variable) names another place"

    /// Loads the library.
    ///
    /// - Throws: ``RankError`` if there is no usable library.
    package static func load() throws(RankError) -> MPILibrary {
        let places = places()
        guard let path = places.first(where: { access($0, R_OK) == 0 }) else {
            throw RankError(
                "\(places.joined(separator: ", ")): there is no library for MPI; \(advice)")
        }
        return try MPILibrary(path)
    }

    /// The places to look for it: the one named in the environment, or next to the executable, in
    /// `../lib`, and in the build folder that the executable is in.
    static func places(
        _ environment: (String) -> String? = LaunchedJob.variable,
        executable: String = ProgramFile.executable?.string ?? "/"
    ) -> [String] {
        if let path = environment(variable), !path.isEmpty { return [path] }
        let folders = executable.split(separator: "/").dropLast().map(String.init)
        let joined = { (folders: [String]) in "/" + (folders + [name]).joined(separator: "/") }
        var places = [joined(folders), joined(folders.dropLast() + ["lib"])]
        if let build = folders.lastIndex(of: ".build") {
            places.append(joined(folders[...build] + ["mpi"]))
        }
        return places
    }

    private init(_ path: String) throws(RankError) {
        // Open MPI loads parts of itself that look for its symbols among the global ones.
        guard let library = dlopen(path, RTLD_NOW | RTLD_GLOBAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "unknown error"
            throw RankError("\(path): cannot be loaded: \(reason); \(Self.advice)")
        }
        guard let symbol = dlsym(library, RT_MPI_SYMBOL),
            let functions = unsafeBitCast(symbol, to: rt_mpi_functions.self)()
        else { throw RankError("\(path): is not retint's library for MPI; \(Self.advice)") }
        let (found, wanted) = (functions.pointee.interface, Int32(RT_MPI_INTERFACE))
        guard found == wanted else {
            throw RankError(
                "\(path): has interface \(found), this retint needs \(wanted); \(Self.advice)")
        }
        (self.functions, self.path) = (functions, path)
    }

    /// The MPI that the library was compiled for.
    package var version: String {
        text(of: functions.pointee.version)
    }

    func message(of error: Int32) -> String {
        text { functions.pointee.describe(error, $0, $1) }
    }

    private func text(of write: (UnsafeMutablePointer<CChar>, Int32) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            base.initialize(to: 0)
            write(base, Int32(buffer.count))
            return String(cString: base)
        }
    }
}
