import CRetintSystem
import Glibc
import SystemPackage

/// The files that run: what is installed with retint is found from them.
package enum ProgramFile {
    /// The program of this process, which is Python's where retint is its module.
    package static var executable: FilePath? { resolved("/proc/self/exe") }

    /// The file that retint's own code is in: a shared library, or the program.
    package static var own: FilePath? {
        guard let name = processes_own_file().map({ String(cString: $0) }) else {
            return executable
        }
        // A program that was found in PATH is known here by the name that it was started by.
        return name.contains("/") ? resolved(name) ?? executable : executable
    }

    private static func resolved(_ path: String) -> FilePath? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return FilePath(platformString: real)
    }
}
