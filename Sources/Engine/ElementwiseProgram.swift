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
    /// Slots of the program; operands that the code does not have repeat the one before.
    let target: Int
    let first: Int
    let second: Int
    let third: Int

    init(code: Code, target: Int, operands: [Int]) {
        (self.code, self.target, first) = (code, target, operands[0])
        second = operands.count > 1 ? operands[1] : first
        third = operands.count > 2 ? operands[2] : second
    }

    var operands: [Int] { [first, second, third] }
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
    /// One for each operation; those that run are fewer, see ``contract``.
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
        let contracted = contract(instructions, slots)
        (self.slots, registers) = assignRegisters(slots, contracted)
        places = .allocate(capacity: 0)
        code = .allocate(capacity: contracted.count)
        _ = code.initialize(from: contracted)
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
            prefetch(own, start + length, min(block, range.upperBound - start - length))
            runBlock(own, start, length)
            start += length
        }
    }

    /// Lets the next block's numbers come while this one is computed: several passes over a block
    /// would wait for memory in the first and leave it idle in the others.
    private func prefetch(_ own: UnsafeMutablePointer<Place>, _ start: Int, _ length: Int) {
        guard code.count > 1, length > 0 else { return }
        for slot in slots.indices where own[slot].moves == 1 {
            rt_prefetch(own[slot].base + start, length)
        }
    }

    @inline(__always)
    private func runBlock(_ own: UnsafeMutablePointer<Place>, _ start: Int, _ length: Int) {
        for step in code {
            let target = own[step.target]
            let first = own[step.first]
            let second = own[step.second]
            let third = own[step.third]
            rt_elementwise(
                step.code.opcode, step.code.p, step.code.q, target.base + start * target.moves,
                first.base + start * first.moves, second.base + start * second.moves,
                third.base + start * third.moves, length)
        }
    }
}

/// Elementwise work that amounts to (y·scale + bias)·factor, with a scale and a bias per channel,
/// kept in a range.
struct ChannelTail {
    fileprivate(set) var scale, bias, factor: Buffer?
    fileprivate(set) var low = -Float.infinity
    fileprivate(set) var high = Float.infinity

    func values(from channel: Int) -> rt_tail {
        rt_tail(
            scale: scale.map { UnsafePointer($0.pointer + channel) },
            bias: bias.map { UnsafePointer($0.pointer + channel) },
            factor: factor?.pointer[0] ?? 1, low: low, high: high)
    }

    /// The values of the last `count` channels for a kernel that reads whole panels.
    func withPaddedValues(
        from channel: Int, count: Int, _ body: (UnsafePointer<rt_tail>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 2 * panelWidth) { memory in
            memory.initialize(repeating: 0)
            var values = values(from: channel)
            func pad(_ vector: inout UnsafePointer<Float>?, _ place: Int) {
                guard let source = vector, let target = memory.baseAddress else { return }
                (target + place).update(from: source, count: count)
                vector = UnsafePointer(target + place)
            }
            pad(&values.scale, 0)
            pad(&values.bias, panelWidth)
            body(&values)
        }
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
                        $0 == value ? nil : operand($0, channels: result.shape)
                    }, isUnary: operands == [value, value])
            else { return nil }
            value = instruction.target
        }
        return tail
    }

    /// A slot's buffer if it holds one number for each channel, or one for all.
    private func operand(_ slot: Int, channels shape: Shape) -> ChannelTail.Operand? {
        guard shape.rank == 4, case .repeated(let buffer, let view) = slots[slot].source
        else { return nil }
        if view.repeatedVector == shape[1] { return .vector(buffer) }
        return view.isScalar ? .scalar(buffer) : nil
    }
}

extension ChannelTail {
    fileprivate enum Operand {
        case vector(Buffer)
        case scalar(Buffer)
    }

    /// Adds one step; false if a tail cannot have it at this place.
    fileprivate mutating func append(
        _ code: Instruction.Code, _ operands: [Operand], isUnary: Bool
    ) -> Bool {
        guard low == -.infinity && high == .infinity else { return false }
        switch (code.opcode, operands.count == 1 ? operands[0] : nil) {
        case (RT_MUL, .vector(let buffer)) where scale == nil && bias == nil && factor == nil:
            scale = buffer
        case (RT_ADD, .vector(let buffer)) where bias == nil && factor == nil: bias = buffer
        case (RT_MUL, .scalar(let buffer)) where factor == nil: factor = buffer
        case (RT_RELU, nil) where isUnary: low = 0
        case (RT_CLIP, nil) where isUnary: (low, high) = (code.p, code.q)
        default: return false
        }
        return true
    }
}

/// Makes one instruction of a product and the sum that it goes into, and of that and a ReLU: fewer
/// passes over the block.
private func contract(_ instructions: [Instruction], _ slots: [Slot]) -> [Instruction] {
    var uses = [Int](repeating: 0, count: slots.count)
    for step in instructions {
        for operand in Set(step.operands) { uses[operand] += 1 }
    }
    var result: [Instruction] = []
    /// The instruction that gives an operand, if nothing else needs that and no result in memory,
    /// which may stand where an operand does, comes between.
    func taken(_ operand: Int, _ opcode: rt_opcode) -> Int? {
        guard uses[operand] == 1, case .temporary = slots[operand].source,
            let index = result.lastIndex(where: { $0.target == operand }),
            result[index].code.opcode == opcode
        else { return nil }
        let isFree = result[(index + 1)...].allSatisfy {
            if case .temporary = slots[$0.target].source { return true }
            return false
        }
        return isFree ? index : nil
    }
    for step in instructions {
        if step.code.opcode == RT_ADD, step.first != step.second,
            let (operand, index) = [(step.second, step.first), (step.first, step.second)].lazy
                .compactMap({ pair in taken(pair.0, RT_MUL).map { (pair.1, $0) } }).first
        {
            let product = result.remove(at: index)
            result.append(
                Instruction(
                    code: .init(opcode: RT_MULADD), target: step.target,
                    operands: [product.first, product.second, operand]))
        } else if step.code.opcode == RT_RELU, let index = taken(step.first, RT_MULADD) {
            let sum = result.remove(at: index)
            result.append(
                Instruction(
                    code: .init(opcode: RT_MULADD_RELU), target: step.target,
                    operands: sum.operands))
        } else {
            result.append(step)
        }
    }
    return result
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
        for operand in instruction.operands { lastUse[operand] = step }
    }
    var free: [Int] = []
    for (step, instruction) in instructions.enumerated() {
        for operand in Set(instruction.operands) {
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
