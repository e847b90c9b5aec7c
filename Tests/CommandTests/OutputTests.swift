import Foundation
import RetintCheckpoints
import RetintCommandSupport
import RetintTestSupport
import Testing

/// Outputs that cannot be written, or must not be: the old one stays whole, and nothing is left.
@Suite(.sampled()) struct OutputTests {
    private let bench: CommandBench
    private let checkpoint: String

    init() throws {
        bench = try CommandBench()
        checkpoint = try bench.makeCheckpoint()
    }

    @Test func inputsAreNoOutputs() throws {
        try bench.expect(0, "export", checkpoint, "-o", "a.mlpackage")
        let weights = ["--weights", "float16"]
        let verify = ["verify", "a.mlpackage", "--against", checkpoint]
        let cases: [(arguments: [String], phrase: String)] = [
            (["quantize", "a.mlpackage", "-o", "a.mlpackage"] + weights, "is the input itself"),
            (["quantize", "a.mlpackage", "-o", "a.mlpackage/b.mlpackage"] + weights, "is inside"),
            (verify + ["--html", "a.mlpackage/x.html"], "is inside"),
            (["export", checkpoint, "-o", checkpoint], "is the input itself"),
            (["import", checkpoint, "-o", checkpoint], "is the input itself"),
            (["average", checkpoint, checkpoint, "-o", checkpoint], "is the input itself"),
        ]
        let before = try contents(ofFolder: bench.directory)
        for (arguments, phrase) in cases { try bench.expect(64, arguments, says: [phrase]) }
        #expect(try contents(ofFolder: bench.directory) == before)
    }

    /// Otherwise, the first socket or file would take the place of the closed stream.
    @Test(
        arguments: [(">&-", 1), ("2>&-", 0), ("<&- >&- 2>&-", 1), ("<&- 2>&-", 0)]
            as [(String, Int32)])
    func closedStreamsStayClosed(streams: String, code: Int32) throws {
        let retint = builtProgram("retint").path
        let result = try runProcess(
            URL(filePath: "/bin/sh"),
            ["-c", "exec \"$0\" inspect \"$1\" \(streams)", retint, checkpoint],
            in: bench.directory)
        #expect(result.code == code && !result.isSignaled, "\(result.messages)")
        #expect(result.output.isEmpty == (code == 1))
    }

    /// Such a name would be that of another file.
    @Test func argumentsThatAreNotUTF8AreRefused() throws {
        let result = try runProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c", #"exec "$0" export "$1" -o "$(printf 'a\377.mlpackage')""#,
                builtProgram("retint").path, checkpoint,
            ], in: bench.directory)
        #expect(result.code == 64 && result.messages.contains("is not UTF-8"))
        #expect(bench.files == ["model.h5"])
    }

    @Test func packagesWithOtherFilesStay() throws {
        try bench.expect(0, "export", checkpoint, "-o", "a.mlpackage")
        _ = try bench.write(Data([1]), to: "a.mlpackage/notes.txt")
        let before = try contents(ofFolder: bench.directory)
        try bench.expect(
            1, "export", checkpoint, "-o", "a.mlpackage", says: ["it also contains notes.txt"])
        #expect(try contents(ofFolder: bench.directory) == before)
    }

    /// One of two that write the same is refused, before it does anything.
    @Test(arguments: [("export", "a.mlpackage"), ("import", "b.h5")])
    func outputInUseIsRefused(command: String, output: String) throws {
        let other = try RunningProcess(locking: bench.path(".\(output).retint-lock"))
        defer { other.interrupt() }
        try bench.expect(1, command, checkpoint, "-o", output, says: ["it is in use"])
        #expect(!FileManager.default.fileExists(atPath: bench.path(output)))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aSignalRemovesTheLock(signal: Int32) throws {
        let process = try bench.start("report", checkpoint, "-o", "p.html", "--seconds", "60")
        while process.isRunning, !bench.files.contains(".p.html.retint-lock") {
            Thread.sleep(forTimeInterval: 0.005)
        }
        kill(process.identifier, signal)
        let result = try process.wait(limit: 60)
        #expect(result.isSignaled && result.code == signal, "\(result.messages)")
        #expect(bench.files == ["model.h5"])
    }

    /// What makes a disk refuse to write; each has its words.
    enum Disk: String, CaseIterable {
        case full, readOnly, limited

        var phrases: [String] {
            switch self {
            case .full: ["No space left on device", "free some space"]
            case .readOnly: ["Read-only file system", "choose another place"]
            case .limited: ["File too large", "ulimit -f"]
            }
        }
    }

    private static let commands = [
        ["export", "IN/model.h5", "-o", "OUT/a.mlpackage"],
        ["export", "IN/model.h5", "-o", "OUT/w.safetensors"],
        ["import", "IN/model.h5", "-o", "OUT/b.h5"],
        ["average", "IN/model.h5", "IN/other.h5", "-o", "OUT/b.h5"],
        ["quantize", "IN/a.mlpackage", "--weights", "float16", "-o", "OUT/a.mlpackage"],
        ["colorize", "IN/model.h5", "IN/photo.png", "--size", "64", "-o", "OUT/"],
        ["dataset", "pack", "IN/photos", "-o", "OUT/p.h5"],
        ["verify", "IN/a.mlpackage", "--against", "IN/model.h5", "--html", "OUT/v.html"],
    ]

    /// In a mount of its own, which needs user namespaces.
    @Test(
        .enabled(if: mountsWork, "file systems cannot be mounted here"),
        // A limited file size would be that of the thread sanitizer's memory, too.
        arguments: Disk.allCases.filter { $0 != .limited || !isThreadSanitized })
    func disksThatRefuse(disk: Disk) throws {
        _ = try bench.makeCheckpoint("other.h5")
        try bench.expect(0, "export", checkpoint, "-o", "a.mlpackage")
        _ = try bench.makePhoto("photo.png", width: 400, height: 300)
        try bench.makeDirectory("photos")
        _ = try bench.makePhoto("photos/1.png", width: 400, height: 300)
        for arguments in Self.commands {
            // colorize writes a copy with the photo's name.
            let named = try #require(arguments.last).dropFirst("OUT/".count)
            let output = named.isEmpty ? "photo.png" : named
            let command = arguments.map {
                $0.replacing("IN/", with: "\(bench.directory)/").replacing("OUT/", with: "disk/")
            }
            let result = try run(command, on: disk, old: String(output))
            #expect(result.code == 1, "\(disk) \(command): \(result.code) \(result.messages)")
            for phrase in disk.phrases {
                let isSaid = result.messages.lowercased().contains(phrase.lowercased())
                #expect(isSaid, "\(command): \(result.messages)")
            }
            #expect(result.messages.contains("disk/\(output): cannot "), "\(result.messages)")
            // The old one, and nothing else.
            #expect(result.output == "\(output)\n", "\(command): \(result.output)")
        }
    }

    /// Runs `retint` where `disk` is such a disk, on which only `old` stands, and lists it.
    private func run(_ command: [String], on disk: Disk, old: String) throws -> ProcessResult {
        let script = """
            set -e
            mount -t tmpfs -o size=64k none disk
            if [ "$1" = a.mlpackage ]; then mkdir "disk/$1"; else echo old > "disk/$1"; fi
            case $2 in
                full) dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null || true ;;
                readOnly) mount -o remount,ro none disk ;;
                limited) ulimit -f 1 ;;
            esac
            old=$1; shift 2
            status=0
            "$@" >/dev/null || status=$?
            rm -f disk/filler
            ls -A disk
            if [ -f "disk/$old" ]; then [ "$(cat "disk/$old")" = old ]; fi
            exit $status
            """
        try bench.makeDirectory("disk")
        return try runProcess(
            URL(filePath: "/usr/bin/unshare"),
            ["-rm", "/bin/bash", "-c", script, "bash", old, disk.rawValue]
                + [builtProgram("retint").path] + command, in: bench.directory)
    }

    /// A disk that others fill during a training loses its pages; the state is saved.
    @Test(.enabled(if: mountsWork, "file systems cannot be mounted here"))
    func aFullDiskDoesNotLoseATraining() throws {
        try bench.makeDirectory("photos")
        for name in ["1", "2"] { _ = try bench.makePhoto("photos/\(name).png") }
        try bench.makeDirectory("disk")
        let settings = [
            "width=0.0625", "batch=2", "steps=1000000", "log_every=1", "save_every=2",
            "validate_every=2", "data.crop=32", "data.train=photos", "data.validation=photos",
        ]
        let script = """
            mount -t tmpfs -o size=8m none disk || exit 99
            "$@" & training=$!
            # saved WHICH: waits until last.h5 is another file.
            saved() {
                for _ in $(seq 600); do
                    now=$(stat -c %i disk/run/last.h5 2>/dev/null) && [ "$now" != "$1" ] && return
                    sleep 0.05
                done
                exit 98
            }
            saved none
            dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null
            for _ in 1 2 3; do saved "$now"; done
            kill -INT $training
            wait $training
            status=$?
            cp disk/run/last.h5 last.h5
            exit $status
            """
        let result = try runProcess(
            URL(filePath: "/usr/bin/unshare"),
            ["-rm", "/bin/bash", "-c", script, "bash", builtProgram("retint").path, "train"]
                + ["--output", "disk/run", "--set"] + settings, in: bench.directory)
        #expect(result.code == 130, "\(result.code) \(result.messages)")
        let said = "No space left on device; free some space or choose another disk; training "
        #expect(result.messages.contains(said + "continues without it"), "\(result.messages)")
        let last = try Checkpoint(contentsOf: bench.path("last.h5"))
        #expect(last.training != nil)
    }

    private static let mountsWork: Bool = {
        let result = try? runProcess(
            URL(filePath: "/usr/bin/unshare"), ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"])
        return result?.code == 0
    }()
}
