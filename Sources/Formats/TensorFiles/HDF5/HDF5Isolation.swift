import CRetintSystem
import Glibc
import RetintFiles
import RetintLocks

/// Keeps libhdf5, which damaged files can crash, out of this process.
///
/// ``start()`` forks a process that waits. For each ``HDF5Reader``, it forks another one, in which
/// libhdf5 opens the reader's file. No program is started for that, because it would take longer
/// than reading most files. Contiguous elements are read by this process.
public enum HDF5Isolation {
    /// The socket to the process that forks readers; nil before ``start()``.
    private static let control = Mutex<Int32?>(nil)

    /// Makes libhdf5 run in child processes from now on.
    ///
    /// Call it at the start of `main`, before there are other threads: a fork copies the locks
    /// of other threads in whatever state they are in. Without it, readers run libhdf5 in this
    /// process, where a crash ends the program.
    ///
    /// - Returns: whether it succeeded; false if the system has no more processes or descriptors.
    @discardableResult
    public static func start() -> Bool {
        control.withLock { control in
            guard control == nil else { return true }
            var sockets: [Int32] = [-1, -1]
            guard processes_socket_pair(&sockets) == 0 else { return false }
            switch processes_fork() {
            case 0: ReaderServer.run(sockets[1])
            case 1...:
                close(sockets[1])
                control = sockets[0]
                return true
            default:
                for socket in sockets { close(socket) }
                return false
            }
        }
    }

    /// Opens a file in the process determined by ``start()``.
    static func open(
        _ file: RegularFile, _ limits: TensorFileLimits
    ) throws(TensorFileError) -> any HDF5Source {
        let path = file.path.string
        guard let control = control.withLock({ $0 }) else {
            let source = LocalHDF5Source()
            _ = try source.answer(.open(path: path, opened: path, limits: limits))
            return source
        }
        let source = try ReaderProcess(file, control)
        // The child finds the descriptor that it was given.
        let opened = "/proc/self/fd/\(ReaderServer.fileDescriptor)"
        _ = try source.answer(.open(path: path, opened: opened, limits: limits))
        return source
    }
}
