import CKernels
import TensorGraph

/// Several elementwise operations of one shape, computed together block by block, so that
/// intermediate results stay in the cache.
final class ElementwiseProgram {
    /// Blocks of about this many elements: a few of them fit into the first-level cache.
    private static let blockTarget = 1024
    /// Longer repeated vectors are gathered instead of written out.
    static let longestPattern = 16_384

    let count: Int
    let slots: [ElementwiseSlot]
    /// One for each operation. The bound ones are fewer where some were contracted.
    let instructions: [ElementwiseInstruction]
    private let contracted: [ElementwiseInstruction]
    private let registers: Int
    /// Blocks, and the ranges that a run may be given, are multiples of this.
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
    private var patterns: [Load] = []
    private var gathers: [Load] = []

    init(count: Int, slots: [ElementwiseSlot], instructions: [ElementwiseInstruction]) {
        self.count = count
        self.instructions = instructions
        let vectors = slots.compactMap { slot -> Int? in
            guard case .repeated(_, let view) = slot.source else { return nil }
            return view.repeatedVector
        }
        unit = vectors.max() ?? 1
        block = max(Self.blockTarget / unit, 1) * unit
        contracted = ElementwiseContraction(instructions, slots).result
        (self.slots, registers) = assignRegisters(slots, contracted)
        positions = .allocate(capacity: 0)
        code = .allocate(capacity: contracted.count)
        _ = code.initialize(from: contracted.lazy.map(BoundInstruction.init))
    }

    deinit {
        positions.deallocate()
        code.deallocate()
    }

    private var registerCount: Int { block + 16 }
    private var scratchPerThread: Int { registers * registerCount }

    func scratchCount(threads: Int) -> Int { threads * scratchPerThread }

    func bind(threads: Int, scratch: UnsafeMutablePointer<Float>) {
        positions.deallocate()
        positions = .allocate(capacity: threads * slots.count)
        for thread in 0..<threads {
            for (index, slot) in slots.enumerated() {
                let register = thread * scratchPerThread + slot.register * registerCount
                var position = Position(base: scratch + register, moves: 0)
                if case .direct(let buffer) = slot.source {
                    position = Position(base: buffer.pointer, moves: 1)
                }
                positions.initializeElement(at: thread * slots.count + index, to: position)
            }
        }
        bindLoads()
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
            prefetch(own, start + length, min(block, range.upperBound - start - length))
            runBlock(own, start, length)
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

    /// Prefetches the next block while this one is computed: of several passes over a block, the
    /// first would wait for memory and the others would leave it idle.
    private func prefetch(_ own: UnsafeMutablePointer<Position>, _ start: Int, _ length: Int) {
        guard code.count > 1, length > 0 else { return }
        for slot in slots.indices where own[slot].moves == 1 {
            rt_prefetch(own[slot].base + start, length)
        }
    }

    @inline(__always)
    private func runBlock(_ own: UnsafeMutablePointer<Position>, _ start: Int, _ length: Int) {
        for step in code {
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
