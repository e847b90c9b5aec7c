import Foundation
import RetintGraph
import RetintTensors

/// A function of one element.
protocol Float64Unary: Float64Operation {
    func value(_ x: Double) -> Double
}

extension Float64Unary {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        inputs[0].values.map { value($0) }
    }
}

extension Absolute: Float64Unary {
    func value(_ x: Double) -> Double { x.magnitude }
}
extension ArcTangent: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.atan(x) }
}
extension Clip: Float64Unary {
    func value(_ x: Double) -> Double { Swift.min(Swift.max(x, Double(minimum)), Double(maximum)) }
}
extension Cosine: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.cos(x) }
}
extension ErrorFunction: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.erf(x) }
}
extension Exp: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.exp(x) }
}
extension Floor: Float64Unary {
    func value(_ x: Double) -> Double { x.rounded(.down) }
}
extension HardSwish: Float64Unary {
    func value(_ x: Double) -> Double { x * Swift.min(Swift.max(x + 3, 0), 6) / 6 }
}
extension LeakyRelu: Float64Unary {
    func value(_ x: Double) -> Double { x > 0 ? x : x * Double(negativeSlope) }
}
extension Log: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.log(x) }
}
extension Negate: Float64Unary {
    func value(_ x: Double) -> Double { -x }
}
extension Relu: Float64Unary {
    func value(_ x: Double) -> Double { x > 0 ? x : 0 }
}
extension Relu6: Float64Unary {
    func value(_ x: Double) -> Double { Swift.min(Swift.max(x, 0), 6) }
}
extension Round: Float64Unary {
    func value(_ x: Double) -> Double { x.rounded(.toNearestOrEven) }
}
extension RoundToHalf: Float64Unary {
    func value(_ x: Double) -> Double { Double(Float16(x)) }
}
extension Sigmoid: Float64Unary {
    func value(_ x: Double) -> Double { 1 / (1 + Foundation.exp(-x)) }
}
extension Sine: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.sin(x) }
}
extension SquareRoot: Float64Unary {
    func value(_ x: Double) -> Double { x.squareRoot() }
}
extension Tanh: Float64Unary {
    func value(_ x: Double) -> Double { Foundation.tanh(x) }
}

/// A function of one element of each of two inputs, with broadcasting.
protocol Float64Binary: Float64Operation {
    func value(_ x: Double, _ y: Double) -> Double
}

extension Float64Binary {
    func float64(_ inputs: [Float64Array], shape: Shape) -> [Double] {
        let (x, y) = (inputs[0], inputs[1])
        if x.shape == shape, y.shape.count == 1 {
            let y = y[0]
            return x.values.map { value($0, y) }
        }
        return zip(repeated(x, to: shape), repeated(y, to: shape)).map { value($0, $1) }
    }
}

extension Add: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x + y }
}
extension Divide: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x / y }
}
extension Equal: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x == y ? 1 : 0 }
}
extension Greater: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x > y ? 1 : 0 }
}
extension GreaterOrEqual: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x >= y ? 1 : 0 }
}
extension Maximum: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x > y ? x : y }
}
extension Minimum: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x < y ? x : y }
}
extension Multiply: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x * y }
}
extension Power: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { Foundation.pow(x, y) }
}
extension ReluGradient: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { y > 0 ? x : 0 }
}
extension Subtract: Float64Binary {
    func value(_ x: Double, _ y: Double) -> Double { x - y }
}
