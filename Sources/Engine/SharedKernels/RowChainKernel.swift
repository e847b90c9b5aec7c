import CKernels

/// A convolution, or what works pixel by pixel, that can compute any rows of its result into any
/// memory, so that the next one finds them in the cache.
class RowKernel: FusingKernel {
    /// Where the first rows of all pictures lie, or would lie if they were kept.
    struct Place {
        let x: UnsafePointer<Float>
        let y: UnsafeMutablePointer<Float>
    }

    final let x, output: Buffer
    final var geometry: rt_conv

    init(name: String, work: Int, geometry: rt_conv, x: Buffer, output: Buffer) {
        (self.geometry, self.x, self.output) = (geometry, x, output)
        super.init(name: name, work: work)
    }

    /// Whether ``compute(_:at:part:_:)`` may be called instead of ``run(phase:part:_:)``.
    var chains: Bool { false }

    /// What a thread does before the first rows of a run.
    func prepare(part: Part, _ workspace: UnsafeMutablePointer<Float>) {}

    /// Computes `rows`, counted over all pictures, with the tail but without an epilogue.
    func compute(
        _ rows: Range<Int>, at place: Place, part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        preconditionFailure("\(name) does not compute rows")
    }
}

extension RowKernel {
    /// Rows of the result, of all pictures.
    var rowCount: Int { output.shape[0] * output.shape[2] }
    /// Floats of a row of the result.
    var rowFloats: Int { output.shape[3] * output.shape[1] }

    /// The rows of the input that some rows of one picture are computed from.
    func inputRows(for rows: Range<Int>) -> Range<Int> {
        let (size, height) = (output.shape[2], x.shape[2])
        let picture = rows.lowerBound / size
        let first = (rows.lowerBound - picture * size) * Int(geometry.stride_height)
        let last = (rows.upperBound - 1 - picture * size) * Int(geometry.stride_height)
        let begin = min(max(first - Int(geometry.pad_top), 0), height)
        let end = min(last - Int(geometry.pad_top) + reach, height)
        return picture * height + begin..<picture * height + max(end, begin)
    }

    /// How many rows can be computed from so many rows of the input, at least.
    func rows(from inputRows: Int) -> Int {
        max((inputRows - reach) / Int(geometry.stride_height) + 1, 1)
    }

    /// Rows of the input that one row of the result is computed from, at most.
    var reach: Int { Int(geometry.dilation_height * (geometry.kernel_height - 1)) + 1 }
}

/// Steps, each of which alone needs the result before it: each thread computes some rows of
/// the first, then what follows from them, and so on, so that no result but the last is ever whole.
final class RowChainKernel: Kernel {
    /// The rows of a result that a thread keeps, and where those end that it will need.
    private struct Window {
        var start, end, limit: Int
    }

    let links: [RowKernel]
    /// Rows of each result but the last that are kept.
    private let capacities: [Int]
    /// Where each link's workspace begins; then each window of the first thread.
    private var offsets: [Int] = []
    private var windows: UnsafeMutablePointer<Window>?

    init(_ links: [RowKernel]) {
        self.links = links
        capacities = zip(links, links.dropFirst()).map { link, next in
            max(Self.keptFloats(next) / link.rowFloats, next.reach)
        }
        super.init(
            name: links.map(\.name).joined(separator: "+"),
            work: links.reduce(0) { $0 + $1.work })
    }

    deinit { windows?.deallocate() }

    /// Floats that stay near a core; more where the last rows are needed once more, and moved.
    private static func keptFloats(_ next: RowKernel) -> Int { next.reach > 1 ? 1 << 16 : 1 << 15 }

    override var multiplyAdds: Int { links.reduce(0) { $0 + $1.multiplyAdds } }

    private var windowFloats: Int {
        zip(links, capacities).reduce(0) { $0 + $1.0.rowFloats * $1.1 }
    }

    override func workspaceCount(threads: Int) -> Int {
        links.reduce(threads * windowFloats) { $0 + $1.workspaceCount(threads: threads) }
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        var offset = 0
        for link in links {
            link.bind(threads: threads, workspace: workspace + offset)
            offsets.append(offset)
            offset += link.workspaceCount(threads: threads)
        }
        for (link, capacity) in zip(links, capacities) {
            offsets.append(offset)
            offset += link.rowFloats * capacity
        }
        windows = .allocate(capacity: threads * capacities.count)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        for (index, link) in links.enumerated() {
            link.prepare(part: part, workspace + offsets[index])
        }
        let last = links.count - 1
        let (own, height) = (part.range(links[last].rowCount), links[last].output.shape[2])
        var row = own.lowerBound
        while row < own.upperBound {
            let end = min((row / height + 1) * height, own.upperBound)
            clear(for: row..<end, part)
            compute(row..<end, of: last, part, workspace)
            row = end
        }
    }

    /// Nothing is computed yet of what rows of the last result, all of one picture, need.
    private func clear(for rows: Range<Int>, _ part: Part) {
        var rows = rows
        for index in capacities.indices.reversed() {
            rows = links[index + 1].inputRows(for: rows)
            window(index, part).initialize(
                to: Window(start: rows.lowerBound, end: rows.lowerBound, limit: rows.upperBound))
        }
    }

    private func compute(
        _ rows: Range<Int>, of index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let link = links[index]
        // As many rows at once as the window before can feed.
        let most = index > 0 ? link.rows(from: capacities[index - 1]) : rows.count
        for first in stride(from: rows.lowerBound, to: rows.upperBound, by: max(most, 1)) {
            let some = first..<min(first + most, rows.upperBound)
            if index > 0 { provide(link.inputRows(for: some), of: index - 1, part, workspace) }
            link.compute(
                some, at: place(index, part, workspace), part: part, workspace + offsets[index])
            if index == links.count - 1 {
                link.finish(
                    some.lowerBound * link.rowFloats..<some.upperBound * link.rowFloats,
                    thread: part.index)
            }
        }
    }

    /// Sees to it that `rows` of a result in between are there.
    private func provide(
        _ rows: Range<Int>, of index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let (window, floats) = (window(index, part), links[index].rowFloats)
        guard rows.upperBound > window.pointee.end else { return }
        if rows.upperBound > window.pointee.start + capacities[index] {
            let memory = memory(index, part, workspace)
            let kept = max(window.pointee.end - rows.lowerBound, 0)
            let old = memory + (rows.lowerBound - window.pointee.start) * floats
            memory.update(from: old, count: kept * floats)
            window.pointee.start = rows.lowerBound
            window.pointee.end = rows.lowerBound + kept
        }
        let begin = window.pointee.end
        let end = min(window.pointee.start + capacities[index], window.pointee.limit)
        compute(begin..<end, of: index, part, workspace)
        window.pointee.end = end
    }

    private func window(_ index: Int, _ part: Part) -> UnsafeMutablePointer<Window> {
        guard let windows else { preconditionFailure("the chain is not bound") }
        return windows + part.index * capacities.count + index
    }

    private func memory(
        _ index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        workspace + offsets[links.count + index] + part.index * windowFloats
    }

    private func place(
        _ index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> RowKernel.Place {
        RowKernel.Place(
            x: index == 0
                ? UnsafePointer(links[0].x.pointer)
                : UnsafePointer(firstRow(index - 1, part, workspace)),
            y: index == links.count - 1
                ? links[index].output.pointer : firstRow(index, part, workspace))
    }

    /// Where the first row of all pictures would lie.
    private func firstRow(
        _ index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        memory(index, part, workspace)
            - window(index, part).pointee.start * links[index].rowFloats
    }
}
