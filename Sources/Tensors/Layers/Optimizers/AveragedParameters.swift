import RetintGraph
import RetintTensors

/// The names of averaged parameters: `optimizer.ema.<name>`.
let averagePrefix = "optimizer.ema."

/// The variable of a parameter's or a buffer's average.
package func averageName(of name: String) -> String { averagePrefix + name }

extension Graph {
    /// Adds an exponential moving average of every parameter and buffer that the recorded
    /// updates change: e ← decay·e + (1 − decay)·p, with p's value after the step.
    ///
    /// Call it after ``Optimizer/apply(parameters:gradients:learningRate:)``. Averages start from
    /// the values of ``initialOptimizerState(parameters:)``.
    ///
    /// - Parameter decay: rank 0; ``averageDecay`` for a decay that is loaded before each step.
    public func averageParameters(decay: Tensor) {
        let learned = Set(variables(.parameter, .buffer).map(\.variableName))
        for (name, value) in updates where learned.contains(name) {
            let average = variable(averagePrefix + name, value.shape, role: .optimizerState)
            update(average, to: average + (value - average) * (1 - decay))
        }
    }
}

extension Graph {
    /// The decay of the averages, to be loaded as `ema_decay`.
    public var averageDecay: Tensor { variable("ema_decay", .scalar, role: .setting) }
}

/// The averaged parameters in a program's variables, under the parameters' own names.
public func averagedParameters(in variables: [String: TensorData]) -> [String: TensorData] {
    var result: [String: TensorData] = [:]
    for (name, value) in variables where name.hasPrefix(averagePrefix) {
        result[String(name.dropFirst(averagePrefix.count))] = value
    }
    return result
}
