import CRetintKernels
import RetintGraph

/// An elementwise operation with a loop for its formula.
///
/// The engine fuses neighboring elementwise operations into one ``ElementwiseProgram``. Such an
/// operation needs no kernel but its loop.
protocol LoopOperation: CPUOperation, ElementwiseOperation {
    var loop: ElementwiseLoop { get }
}

/// How one elementwise operation computes a block of elements.
struct ElementwiseLoop {
    /// Properties that can be used when fusing several loops.
    enum Role: Equatable {
        case sum
        case product
        /// x limited to a range; NaN stays NaN.
        case limits(Float, Float)

        static let relu = limits(0, .infinity)
    }

    let body: Body
    let role: Role?

    enum Body {
        /// A C loop, compiled for several CPU generations, and its two attributes.
        case c(rt_map, Float, Float)
        /// A Swift loop, compiled for any CPU.
        case swift(SwiftLoop)
    }

    /// A loop of CKernels with its attributes.
    static func c(
        _ function: @escaping rt_map, _ p: Float = 0, _ q: Float = 0, as role: Role? = nil
    ) -> Self {
        Self(body: .c(function, p, q), role: role)
    }

    /// A loop around a function of one element.
    static func swift(_ function: @escaping (Float) -> Float) -> Self {
        let loop = SwiftLoop { target, x, _, count in
            for index in 0..<count { target[index] = function(x[index]) }
        }
        return Self(body: .swift(loop), role: nil)
    }

    /// A loop around a function of two elements.
    static func swift(_ function: @escaping (Float, Float) -> Float) -> Self {
        let loop = SwiftLoop { target, x, y, count in
            for index in 0..<count { target[index] = function(x[index], y[index]) }
        }
        return Self(body: .swift(loop), role: nil)
    }
}

/// A loop over a block that is written in Swift.
final class SwiftLoop {
    typealias Block = (
        _ target: UnsafeMutablePointer<Float>, _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>, _ count: Int
    ) -> Void

    let run: Block

    init(_ run: @escaping Block) { self.run = run }
}
