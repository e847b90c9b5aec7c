import CRetintKernels
import RetintGraph

/// Several elementwise operations of one shape, computed together block by block, so that
/// intermediate results stay in the cache.
final class ElementwiseProgram {
    /// Floats for the blocks of all slots together: half of a first-level cache.
    private static let nearFloats = 6144
    /// The fewest and the most elements of a block.
    private static let blockBounds = 256...1024
    /// Longer repeated vectors are gathered instead of written out.
    static let longestPattern = 16_384

    let count: Int
    let slots: [ElementwiseSlot]
    /// One per operation. There are fewer bound ones if some were contracted.
    let instructions: [ElementwiseInstruction]
    private let contracted: [ElementwiseInstruction]
    private let registers: Int
    /// Blocks, and the ranges of a run, are multiples of this.
    let unit: Int
    private let block: Int

    /// For a thread and a slot: where elements begin, and 1 if they move with the block.
    private struct Position {
        var base: UnsafeMutablePointer<Float>
        var moves: Int
    }

    private struct Load {
        let slot: Int
        let source: UnsafePointer<Float>
        let view: rt_view
    }

    private var positions: UnsafeMutableBufferPointer<Position>
    private let code: UnsafeMutableBufferPointer<BoundInstruction>
    /// Where the direct slots begin, for prefetching blocks.
    private var streams: UnsafeMutableBufferPointer<UnsafeMutablePointer<Float>>
    /// The slots that ``place(at:thread:)`` moves.
    private var movedSlots: UnsafeMutableBufferPointer<Int>
    private var patterns: [Load] = []
    private var gathers: [Load] = []

    /// Whether the value in slot 0 and the program's result are not in the memory of their buffers,
    /// but where ``place(at:thread:)`` says. Set before the program is bound.
    var isElsewhere = false

    init(count: Int, slots: [ElementwiseSlot], instructions: [ElementwiseInstruction]) {
        self.count = count
        self.instructions = instructions
        let vectors = slots.compactMap { slot -> Int? in
            guard case .repeated(_, let view) = slot.source else { return nil }
            return view.repeatedVector
        }
        unit = vectors.max() ?? 1
        contracted = ElementwiseContraction(instructions, slots).result
        (self.slots, registers) = assignRegisters(slots, contracted)
        let areas = registers + self.slots.count { $0.isDirect }
        let near = min(
            max(Self.nearFloats / areas, Self.blockBounds.lowerBound),
            Self.blockBounds.upperBound)
        block = max(near / unit, 1) * unit
        positions = .allocate(capacity: 0)
        streams = .allocate(capacity: 0)
        movedSlots = .allocate(capacity: 0)
        code = .allocate(capacity: contracted.count)
        _ = code.initialize(from: contracted.lazy.map(BoundInstruction.init))
    }

    deinit {
        positions.deallocate()
        streams.deallocate()
        movedSlots.deallocate()
        code.deallocate()
    }

    private var registerCount: Int { block + 16 }
    /// The elements of memory that each thread needs for itself.
    var scratchPerThread: Int { registers * registerCount }

    func scratchCount(threads: Int) -> Int { threads * scratchPerThread }

    /// - Parameter step: the distance of the threads' parts of the scratch memory, which programs
    ///   that run at the same time share; nil for ``scratchPerThread``.
    func bind(threads: Int, scratch: UnsafeMutablePointer<Float>, step: Int? = nil) {
        let step = step ?? scratchPerThread
        positions.deallocate()
        positions = .allocate(capacity: threads * slots.count)
        for thread in 0..<threads {
            for (index, slot) in slots.enumerated() {
                let register = thread * step + slot.register * registerCount
                var position = Position(base: scratch + register, moves: 0)
                if case .direct(let buffer) = slot.source {
                    position.moves = 1
                    if !isElsewhere(slot) { position.base = buffer.pointer }
                }
                positions.initializeElement(at: thread * slots.count + index, to: position)
            }
        }
        let moved = slots.indices.filter { isElsewhere(slots[$0]) }
        movedSlots.deallocate()
        movedSlots = .allocate(capacity: moved.count)
        _ = movedSlots.initialize(from: moved)
        bindStreams()
        bindLoads()
    }

    /// Only work of several instructions is slow enough for prefetching to be of use. Slots may be
    /// of one memory: results that are written over operands.
    private func bindStreams() {
        let direct = slots.compactMap { slot -> UnsafeMutablePointer<Float>? in
            guard case .direct(let buffer) = slot.source, !isElsewhere(slot) else { return nil }
            return buffer.pointer
        }
        streams.deallocate()
        let distinct = contracted.count > 1 ? Set(direct) : []
        streams = .allocate(capacity: distinct.count)
        _ = streams.initialize(from: distinct)
    }

    /// Whether the result overwrites the value in slot 0, which a kernel has just written.
    var overwritesHead: Bool {
        guard let last = instructions.last else { return false }
        return slots[0].isDirect && sharesHead(slots[last.target])
    }

    private func sharesHead(_ slot: ElementwiseSlot) -> Bool {
        guard case .direct(let head) = slots[0].source, case .direct(let buffer) = slot.source
        else { return false }
        return head.storage.root === buffer.storage.root
    }

    private func isElsewhere(_ slot: ElementwiseSlot) -> Bool { isElsewhere && sharesHead(slot) }

    /// Says where a thread's next elements are, if they are not in their buffer.
    ///
    /// - Parameter base: the address of element 0, which need not be in memory itself.
    func place(at base: UnsafeMutablePointer<Float>, thread: Int) {
        for slot in movedSlots { positions[thread * slots.count + slot].base = base }
    }

    private func bindLoads() {
        patterns = []
        gathers = []
        for (index, slot) in slots.enumerated() {
            switch slot.source {
            case .repeated(let buffer, let view):
                patterns.append(Load(slot: index, source: buffer.pointer, view: view.cView))
            case .gathered(let buffer, let view):
                gathers.append(
                    Load(slot: index, source: buffer.pointer + view.offset, view: view.cView))
            case .direct, .temporary: break
            }
        }
    }
}

// MARK: Running

extension ElementwiseProgram {
    /// Computes the elements `range`, which begins at a multiple of ``unit``.
    func run(_ range: Range<Int>, thread: Int) {
        guard !range.isEmpty else { return }
        let own = positions.baseAddress.unsafelyUnwrapped + thread * slots.count
        for load in patterns { gather(load, own, 0, min(block, range.count)) }
        var start = range.lowerBound
        while start < range.upperBound {
            let length = min(block, range.upperBound - start)
            for load in gathers { gather(load, own, start, length) }
            runBlock(own, start, length, next: min(block, range.upperBound - start - length))
            start += length
        }
    }

    @inline(__always)
    private func gather(
        _ load: Load, _ own: UnsafeMutablePointer<Position>, _ start: Int, _ length: Int
    ) {
        var view = load.view
        rt_gather(own[load.slot].base, load.source, &view, start, length)
    }

    /// Runs all instructions on a block, and prefetches the `next` elements after it at the same
    /// time, one or a few streams with each instruction: all at once would fill the queue of the
    /// cache, and stall the computation until they arrive.
    @inline(__always)
    private func runBlock(
        _ own: UnsafeMutablePointer<Position>, _ start: Int, _ length: Int, next: Int
    ) {
        var prefetched = 0
        for (index, step) in code.enumerated() {
            let due = streams.count * (index + 1) / code.count
            while prefetched < due {
                rt_prefetch(streams[prefetched] + start + length, next)
                prefetched += 1
            }
            let target = own[step.target]
            let first = own[step.first]
            let second = own[step.second]
            let third = own[step.third]
            step.run(
                target.base + start * target.moves, first.base + start * first.moves,
                second.base + start * second.moves, third.base + start * third.moves, length)
        }
    }
}
