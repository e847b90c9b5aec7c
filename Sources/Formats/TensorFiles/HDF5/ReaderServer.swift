import CRetintSystem
import Glibc

/// The child processes of ``HDF5Isolation``: one that forks, and its children that read.
enum ReaderServer {
    /// The processor time, in seconds, that libhdf5 may take for one request.
    static let seconds = 8
    /// The descriptor of the file in a process that reads.
    static let fileDescriptor: Int32 = 4
    /// The memory limit of a reading process in bytes: for chunks, and for libhdf5.
    private static let memory = 1 << 30

    /// Forks a process for each pair of a socket and a file that arrives through `control`, until
    /// the other end is closed.
    static func run(_ control: Int32) -> Never {
        leaveTerminal()
        // Others wait for the descriptors that this process has inherited to be closed.
        let control = dup2(control, STDERR_FILENO + 1)
        processes_close_from(control + 1)
        // The system reaps the processes that have ended.
        signal(SIGCHLD, SIG_IGN)
        prepare()
        var descriptors: [Int32] = [-1, -1]
        while processes_receive_descriptors(control, &descriptors) == 1 {
            // If forking fails, the closed socket shows it.
            if processes_fork() == 0 {
                close(control)
                serve(socket: descriptors[0], file: descriptors[1])
            }
            for descriptor in descriptors { close(descriptor) }
        }
        processes_exit(0)
    }

    /// Initializes what every reader needs, once for all: libhdf5, and the coding of messages,
    /// whose first use takes longer.
    private static func prepare() {
        HDF5Library.run {}
        let reply = ReaderReply(answer: HDF5Answer(attributes: ["": .string("")]))
        ReaderChannel.rehearse(HDF5Request.open(path: "", opened: "", limits: .default))
        ReaderChannel.rehearse(reply)
    }

    /// Ctrl-C, closing the terminal and a scheduler's warning are for the parent process;
    /// when it ends, so do these. libc's messages about a damaged heap are discarded.
    private static func leaveTerminal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        let null = open("/dev/null", O_RDWR)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { dup2(null, descriptor) }
    }

    private static func serve(socket: Int32, file: Int32) -> Never {
        // Above all descriptors in use, so that neither overwrites the other.
        let descriptors = [fcntl(socket, F_DUPFD, 10), fcntl(file, F_DUPFD, 10)]
        let channel = ReaderChannel(dup2(descriptors[0], fileDescriptor - 1))
        dup2(descriptors[1], fileDescriptor)
        channel.reportCrashes()
        limit()
        answer(channel) { renewTime() }
        processes_exit(0)
    }

    /// Answers requests until the other end is closed.
    ///
    /// - Parameter prepare: runs before each request.
    static func answer(_ channel: borrowing ReaderChannel, _ prepare: () -> Void = {}) {
        let service = HDF5Service()
        while let request = try? channel.receive(HDF5Request.self).message {
            prepare()
            var reply = ReaderReply()
            do throws(TensorFileError) {
                reply.answer = try service.answer(request)
            } catch {
                reply.error = error
            }
            guard (try? channel.send(reply, bytes(of: reply, to: request))) != nil else { return }
        }
    }

    private static func bytes(of reply: ReaderReply, to request: HDF5Request) throws -> [UInt8] {
        guard let answer = reply.answer else { return [] }
        return request.isForDatasets ? try DatasetTable.encode(answer.datasets) : answer.bytes
    }

    private static func limit() {
        set(__rlimit_resource_t(RLIMIT_CORE.rawValue), 0)
        set(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), 0)
        set(__rlimit_resource_t(RLIMIT_AS.rawValue), addressSpace + memory)
    }

    /// Allows ``seconds`` more than the time used so far.
    private static func renewTime() {
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        set(__rlimit_resource_t(RLIMIT_CPU.rawValue), used.tv_sec + 1 + seconds)
    }

    private static func set(_ resource: __rlimit_resource_t, _ value: Int) {
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
        setrlimit(resource, &limit)
    }

    /// The bytes of this process's address space.
    private static var addressSpace: Int {
        var text = [UInt8](repeating: 0, count: 64)
        let descriptor = open("/proc/self/statm", O_RDONLY)
        defer { close(descriptor) }
        let count = read(descriptor, &text, text.count)
        let pages = text.prefix(max(count, 0)).split(separator: UInt8(ascii: " ")).first ?? []
        return (Int(String(decoding: pages, as: UTF8.self)) ?? 0) * Int(getpagesize())
    }
}
