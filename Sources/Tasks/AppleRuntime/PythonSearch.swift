import Glibc
import RetintFiles
import SystemPackage

/// Finds the Python that has Apple's runtime.
///
/// The current folder is not searched: its files may belong to someone else.
enum PythonSearch {
    static let variable = "RETINT_COREAI_PYTHON"
    private static let ownPython = ".venv-coreai/bin/python"

    /// - Parameter named: the Python that the caller names.
    /// - Throws: ``AppleRuntimeError`` if none is named or found.
    static func python(_ named: String?) throws(AppleRuntimeError) -> String {
        let value = getenv(variable).map { String(cString: $0) } ?? ""
        if let found = named ?? (value.isEmpty ? nil : value) ?? besideExecutable { return found }
        throw AppleRuntimeError(
            .unavailable,
            "no Python with Apple's Core AI runtime is known; install "
                + "coreai-core==\(AppleRuntime.version) into a virtual environment and name its "
                + "python in the environment variable \(variable), or run Scripts/setup --coreai "
                + "in a checkout of retint")
    }

    /// The Python of `Scripts/setup --coreai`, in the checkout that retint was built in.
    private static var besideExecutable: String? {
        guard var folder = ProgramFile.executable else { return nil }
        while folder.removeLastComponent() {
            let python = folder.appending(ownPython)
            if access(python.string, X_OK) == 0 { return python.string }
        }
        return nil
    }
}
