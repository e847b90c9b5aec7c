import CRetintKernels
import RetintCompiler

/// One loop of an ``ElementwiseProgram`` and the slots that it uses.
struct ElementwiseInstruction {
    let loop: ElementwiseLoop
    /// Slots of the program. Operands that the loop does not have repeat the previous one.
    let target: Int
    let first: Int
    let second: Int
    let third: Int

    init(loop: ElementwiseLoop, target: Int, operands: [Int]) {
        (self.loop, self.target, first) = (loop, target, operands[0])
        second = operands.count > 1 ? operands[1] : first
        third = operands.count > 2 ? operands[2] : second
    }

    var operands: [Int] { [first, second, third] }
}

/// A slot of an ``ElementwiseProgram``: where an operand or a result is stored.
struct ElementwiseSlot {
    enum Source {
        /// Element i of the block's range is element i of the buffer.
        case direct(Buffer)
        /// A scalar or vector that repeats; written out once per run into scratch.
        case repeated(Buffer, View)
        /// Elements gathered block by block into scratch.
        case gathered(Buffer, View)
        /// An intermediate result.
        case temporary
    }

    let source: Source
    /// The scratch register; −1 for direct slots.
    var register = -1

    var isTemporary: Bool {
        if case .temporary = source { return true }
        return false
    }

    var isDirect: Bool {
        if case .direct = source { return true }
        return false
    }
}

/// An instruction in the representation of the inner loop over blocks, without reference counting.
struct BoundInstruction {
    private let function: rt_map?
    private let p, q: Float
    private unowned(unsafe) let swiftLoop: SwiftLoop?
    let target, first, second, third: Int

    /// - Parameter instruction: must outlive the result, which does not retain its loop.
    init(_ instruction: ElementwiseInstruction) {
        (target, first) = (instruction.target, instruction.first)
        (second, third) = (instruction.second, instruction.third)
        switch instruction.loop.body {
        case .c(let function, let p, let q):
            (self.function, self.p, self.q, swiftLoop) = (function, p, q, nil)
        case .swift(let loop):
            (function, p, q, swiftLoop) = (nil, 0, 0, loop)
        }
    }

    @inline(__always)
    func run(
        _ target: UnsafeMutablePointer<Float>, _ first: UnsafePointer<Float>,
        _ second: UnsafePointer<Float>, _ third: UnsafePointer<Float>, _ count: Int
    ) {
        if let function {
            function(p, q, target, first, second, third, count)
        } else {
            swiftLoop?.run(target, first, second, count)
        }
    }
}
