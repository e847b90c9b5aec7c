import CKernels
import TensorGraph

/// One elementwise step on a block of numbers.
struct Instruction {
    /// What to compute, with the numbers it needs.
    struct Code {
        let opcode: rt_opcode
        var p: Float = 0
        var q: Float = 0
    }

    let code: Code
    /// Slots of the program.
    let target: Int
    let first: Int
    let second: Int
}

/// Where a program's operand or result stands.
struct Slot {
    enum Source {
        /// Element i of the block's range is element i of the buffer.
        case direct(Buffer)
        /// A number or vector that repeats; written out once per run into scratch.
        case repeated(Buffer, View)
        /// Elements picked block by block into scratch.
        case gathered(Buffer, View)
        /// An intermediate result.
        case temporary
    }

    let source: Source
    /// The scratch register; −1 for direct slots.
    var register = -1
}

/// Several elementwise operations of one shape, computed together block by block, so that
/// intermediate results stay in the cache.
final class ElementwiseProgram {
    /// Blocks of about this many elements: a few of them fit into the first-level cache.
    private static let blockTarget = 1024
    /// Longer repeated vectors are gathered instead of written out.
    static let longestPattern = 16_384

    let count: Int
    private let slots: [Slot]
    private let instructions: [Instruction]
    private let registers: Int
    /// Blocks, and the ranges that a run may be given, are multiples of this.
    let unit: Int
    private let block: Int

    /// For each thread and slot, where block elements begin; and whether they move with the block.
    private struct Place {
        var base: UnsafeMutablePointer<Float>
        var moves: Int
    }

    private struct Load {
        let slot: Int
        let source: UnsafePointer<Float>
        let view: rt_view
    }

    private var places: UnsafeMutableBufferPointer<Place>
    private var code: UnsafeMutableBufferPointer<Instruction>
    private var patterns: [Load] = []
    private var gathers: [Load] = []

    init(count: Int, slots: [Slot], instructions: [Instruction]) {
        self.count = count
        self.instructions = instructions
        let vectors = slots.compactMap { slot -> Int? in
            guard case .repeated(_, let view) = slot.source else { return nil }
            return view.repeatedVector
        }
        unit = vectors.max() ?? 1
        block = max(Self.blockTarget / unit, 1) * unit
        (self.slots, registers) = assignRegisters(slots, instructions)
        places = .allocate(capacity: 0)
        code = .allocate(capacity: instructions.count)
        _ = code.initialize(from: instructions)
    }

    deinit {
        places.deallocate()
        code.deallocate()
    }

    private var scratchPerThread: Int { registers * (block + 16) }

    func scratchCount(threads: Int) -> Int { threads * scratchPerThread }

    func bind(threads: Int, scratch: UnsafeMutablePointer<Float>) {
        places.deallocate()
        places = .allocate(capacity: threads * slots.count)
        for thread in 0..<threads {
            for (index, slot) in slots.enumerated() {
                let register = scratch + thread * scratchPerThread + slot.register * (block + 16)
                var place = Place(base: register, moves: 0)
                if case .direct(let buffer) = slot.source {
                    place = Place(base: buffer.pointer, moves: 1)
                }
                places.initializeElement(at: thread * slots.count + index, to: place)
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

    /// Computes the elements `range`, which begins at a multiple of ``unit``.
    func run(_ range: Range<Int>, thread: Int) {
        guard !range.isEmpty else { return }
        let own = places.baseAddress.unsafelyUnwrapped + thread * slots.count
        for load in patterns {
            var view = load.view
            rt_gather(own[load.slot].base, load.source, &view, 0, min(block, range.count))
        }
        var start = range.lowerBound
        while start < range.upperBound {
            let length = min(block, range.upperBound - start)
            for load in gathers {
                var view = load.view
                rt_gather(own[load.slot].base, load.source, &view, start, length)
            }
            runBlock(own, start, length)
            start += length
        }
    }

    @inline(__always)
    private func runBlock(_ own: UnsafeMutablePointer<Place>, _ start: Int, _ length: Int) {
        for step in code {
            let target = own[step.target]
            let first = own[step.first]
            let second = own[step.second]
            rt_elementwise(
                step.code.opcode, step.code.p, step.code.q, target.base + start * target.moves,
                first.base + start * first.moves, second.base + start * second.moves, length)
        }
    }
}

/// Elementwise work that amounts to y·scale + bias per channel, kept in a range.
struct ChannelTail {
    fileprivate(set) var scale, bias: Buffer?
    fileprivate(set) var low = -Float.infinity
    fileprivate(set) var high = Float.infinity

    func values(from channel: Int) -> rt_tail {
        rt_tail(
            scale: scale.map { UnsafePointer($0.pointer + channel) },
            bias: bias.map { UnsafePointer($0.pointer + channel) }, low: low, high: high)
    }
}

extension ElementwiseProgram {
    /// This program as a tail of the value in slot 0, written over it; nil if it is none.
    var channelTail: ChannelTail? {
        guard case .direct(let head) = slots[0].source,
            case .direct(let result)? = instructions.last.map({ slots[$0.target].source }),
            head.storage.root === result.storage.root
        else { return nil }
        var (tail, value) = (ChannelTail(), 0)
        for (step, instruction) in instructions.enumerated() {
            let isLast = step == instructions.count - 1
            if !isLast, case .direct = slots[instruction.target].source { return nil }
            let operands = [instruction.first, instruction.second]
            guard operands.contains(value),
                tail.append(
                    instruction.code,
                    operands.compactMap {
                        $0 == value ? nil : vector($0, channels: result.shape)
                    }, isUnary: operands == [value, value])
            else { return nil }
            value = instruction.target
        }
        return tail
    }

    /// A slot's buffer if it holds one number for each channel.
    private func vector(_ slot: Int, channels shape: Shape) -> Buffer? {
        guard shape.rank == 4, case .repeated(let buffer, let view) = slots[slot].source,
            view.repeatedVector == shape[1]
        else { return nil }
        return buffer
    }
}

extension ChannelTail {
    /// Adds one step; false if a tail cannot have it at this place.
    fileprivate mutating func append(
        _ code: Instruction.Code, _ vectors: [Buffer], isUnary: Bool
    ) -> Bool {
        let isFree = low == -.infinity && high == .infinity
        switch code.opcode {
        case RT_MUL where isFree && scale == nil && bias == nil && vectors.count == 1:
            scale = vectors[0]
        case RT_ADD where isFree && bias == nil && vectors.count == 1: bias = vectors[0]
        case RT_RELU where isFree && isUnary: low = 0
        case RT_CLIP where isFree && isUnary: (low, high) = (code.p, code.q)
        default: return false
        }
        return true
    }
}

/// Gives every slot that needs scratch a register, reusing those of temporaries that are done.
private func assignRegisters(
    _ slots: [Slot], _ instructions: [Instruction]
) -> (slots: [Slot], count: Int) {
    var slots = slots
    var count = 0
    for index in slots.indices {
        switch slots[index].source {
        case .repeated, .gathered:
            slots[index].register = count
            count += 1
        case .direct, .temporary: break
        }
    }
    var lastUse = [Int](repeating: -1, count: slots.count)
    for (step, instruction) in instructions.enumerated() {
        lastUse[instruction.first] = step
        lastUse[instruction.second] = step
    }
    var free: [Int] = []
    for (step, instruction) in instructions.enumerated() {
        for operand in Set([instruction.first, instruction.second]) {
            if case .temporary = slots[operand].source, lastUse[operand] == step {
                free.append(slots[operand].register)
            }
        }
        guard case .temporary = slots[instruction.target].source else { continue }
        if free.isEmpty {
            free.append(count)
            count += 1
        }
        slots[instruction.target].register = free.removeLast()
    }
    return (slots, count)
}

/// Elementwise work that stands alone.
final class ElementwiseKernel: Kernel {
    private let program: ElementwiseProgram

    init(name: String, program: ElementwiseProgram) {
        self.program = program
        super.init(name: name, work: program.count)
    }

    override func workspaceCount(threads: Int) -> Int { program.scratchCount(threads: threads) }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        program.bind(threads: threads, scratch: workspace)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        program.run(part.range(program.count, unit: program.unit), thread: part.index)
    }
}
