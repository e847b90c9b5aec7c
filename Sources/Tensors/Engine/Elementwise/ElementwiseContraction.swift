import CRetintKernels

/// Contracts a product and the sum that uses it to one instruction, and that one with a ReLU, for
/// fewer passes over the block.
struct ElementwiseContraction {
    private let slots: [ElementwiseSlot]
    /// How many instructions read each slot.
    private var uses: [Int]
    private(set) var result: [ElementwiseInstruction] = []
    /// The kinds of the instructions of ``result``, in addition to ``ElementwiseLoop/role``.
    private var isMultiplyAdd: [Bool] = []

    init(_ instructions: [ElementwiseInstruction], _ slots: [ElementwiseSlot]) {
        self.slots = slots
        uses = [Int](repeating: 0, count: slots.count)
        for step in instructions {
            for operand in Set(step.operands) { uses[operand] += 1 }
        }
        for step in instructions { append(step) }
    }

    private mutating func append(_ step: ElementwiseInstruction) {
        if step.loop.role == .sum, step.first != step.second,
            let (index, addend) = product(step.second, step.first)
                ?? product(step.first, step.second)
        {
            let product = remove(index)
            let operands = [product.first, product.second, addend]
            add(rt_map_muladd, step.target, operands, isMultiplyAdd: true)
        } else if step.loop.role == .relu,
            let index = producer(of: step.first, where: { isMultiplyAdd[$0] })
        {
            add(rt_map_muladd_relu, step.target, remove(index).operands, isMultiplyAdd: false)
        } else {
            result.append(step)
            isMultiplyAdd.append(false)
        }
    }

    private func product(_ operand: Int, _ addend: Int) -> (index: Int, addend: Int)? {
        producer(of: operand) { result[$0].loop.role == .product }.map { ($0, addend) }
    }

    /// The instruction that computes an operand, if it can be moved to the end: nothing else needs
    /// its result, and no result that may overwrite an operand in memory comes in between.
    private func producer(of operand: Int, where matches: (Int) -> Bool) -> Int? {
        guard uses[operand] == 1, slots[operand].isTemporary,
            let index = result.lastIndex(where: { $0.target == operand }), matches(index),
            result[(index + 1)...].allSatisfy({ slots[$0.target].isTemporary })
        else { return nil }
        return index
    }

    private mutating func remove(_ index: Int) -> ElementwiseInstruction {
        isMultiplyAdd.remove(at: index)
        return result.remove(at: index)
    }

    private mutating func add(
        _ function: @escaping rt_map, _ target: Int, _ operands: [Int], isMultiplyAdd: Bool
    ) {
        result.append(
            ElementwiseInstruction(loop: .c(function), target: target, operands: operands))
        self.isMultiplyAdd.append(isMultiplyAdd)
    }
}

/// Gives every slot that needs scratch a register, reusing those of temporaries that are done.
func assignRegisters(
    _ slots: [ElementwiseSlot], _ instructions: [ElementwiseInstruction]
) -> (slots: [ElementwiseSlot], count: Int) {
    var slots = slots
    var count = 0
    for index in slots.indices where !slots[index].isDirect && !slots[index].isTemporary {
        slots[index].register = count
        count += 1
    }
    var lastUse = [Int](repeating: -1, count: slots.count)
    for (step, instruction) in instructions.enumerated() {
        for operand in instruction.operands { lastUse[operand] = step }
    }
    var free: [Int] = []
    for (step, instruction) in instructions.enumerated() {
        for operand in Set(instruction.operands)
        where slots[operand].isTemporary && lastUse[operand] == step {
            free.append(slots[operand].register)
        }
        guard slots[instruction.target].isTemporary else { continue }
        if free.isEmpty {
            free.append(count)
            count += 1
        }
        slots[instruction.target].register = free.removeLast()
    }
    return (slots, count)
}
