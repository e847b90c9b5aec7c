import CRetintKernels

/// A chain of kernels, each of which reads only the result of the previous one. Each thread
/// computes some rows of the first, then the rows of the next that follow from them, and so on, so
/// that only the last result is ever completely in memory.
final class RowChainKernel: Kernel, ChainableKernel {
    /// The rows of a result that a thread keeps, and the end of those that it will need.
    private struct Window {
        var start, end, limit: Int
    }

    /// Rows of a piece.
    private static let fewestRows = 4

    let links: [RowKernel]
    /// The kept rows of each result except the last.
    private let capacities: [Int]
    /// The offset of each link's workspace, then of each window of the first thread.
    private var offsets: [Int] = []
    private var windows: UnsafeMutablePointer<Window>?

    init(_ links: [RowKernel]) {
        self.links = links
        for link in links.dropLast() { link.finishesElsewhere() }
        capacities = zip(links, links.dropFirst()).map { link, next in
            max(Self.keptFloats(next) / link.rowFloats, next.reach)
        }
        super.init(
            name: links.map(\.name).joined(separator: "+"),
            work: links.reduce(0) { $0 + $1.work })
    }

    deinit { windows?.deallocate() }

    /// Floats that stay in a core's cache; more if the last rows are read again and therefore
    /// moved.
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

    /// Stolen rows start with an empty window: small pieces cost much.
    override func pieces(of phase: Int, threads: Int) -> Int {
        links[links.count - 1].pieces(
            links[links.count - 1].rowCount, fewest: Self.fewestRows, threads: threads)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let last = links.count - 1
        let (own, height) = (part.range(links[last].rowCount), links[last].height)
        var row = own.lowerBound
        while row < own.upperBound {
            let end = min((row / height + 1) * height, own.upperBound)
            let continues = part.continues && row == own.lowerBound && row % height != 0
            prepare(for: row..<end, continues, part)
            compute(row..<end, of: last, part, workspace)
            row = end
        }
    }

    /// Empties the windows for computing rows of the last result, all of one image; or only moves
    /// their limits if the thread has computed the rows before.
    private func prepare(for rows: Range<Int>, _ continues: Bool, _ part: Part) {
        var rows = rows
        for index in capacities.indices.reversed() {
            rows = links[index + 1].inputRows(for: rows)
            let window = window(index, part)
            guard !continues else {
                window.pointee.limit = rows.upperBound
                continue
            }
            window.initialize(
                to: Window(start: rows.lowerBound, end: rows.lowerBound, limit: rows.upperBound))
        }
    }

    private func compute(
        _ rows: Range<Int>, of index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) {
        let link = links[index]
        // As many rows at once as follow from a full window of the result before.
        let rowLimit = index > 0 ? link.rows(from: capacities[index - 1]) : rows.count
        for first in stride(from: rows.lowerBound, to: rows.upperBound, by: max(rowLimit, 1)) {
            let block = first..<min(first + rowLimit, rows.upperBound)
            if index > 0 { provide(link.inputRows(for: block), of: index - 1, part, workspace) }
            let addresses = addresses(index, part, workspace)
            link.compute(block, at: addresses, part: part, workspace + offsets[index])
            let elements = block.lowerBound * link.rowFloats..<block.upperBound * link.rowFloats
            if index == links.count - 1 {
                link.finish(elements, thread: part.index)
            } else {
                link.finish(elements, at: addresses.y, thread: part.index)
            }
        }
    }

    /// Computes `rows` of an intermediate result, unless they are in its window.
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

    private func addresses(
        _ index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> RowKernel.Addresses {
        RowKernel.Addresses(
            x: index == 0
                ? UnsafePointer(links[0].x.pointer)
                : UnsafePointer(firstRow(index - 1, part, workspace)),
            y: index == links.count - 1
                ? links[index].output.pointer : firstRow(index, part, workspace))
    }

    /// The address of row 0 of the whole batch, before the window.
    private func firstRow(
        _ index: Int, _ part: Part, _ workspace: UnsafeMutablePointer<Float>
    ) -> UnsafeMutablePointer<Float> {
        memory(index, part, workspace)
            - window(index, part).pointee.start * links[index].rowFloats
    }
}
