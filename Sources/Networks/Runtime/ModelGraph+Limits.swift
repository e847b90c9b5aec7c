import RetintEngine
import RetintGraph
import RetintTensors

/// Limits that real networks stay below, so that a small file can neither make the machine run out
/// of memory nor keep it busy for days. Larger inputs, which the caller requests, may take more;
/// a limit set by the caller takes precedence.
extension ModelGraph {
    /// The memory limit of a network with few weights: the minimum, and at the usual image size.
    private static let (leastMemory, usualMemory) = (192.0 * 0x1p20, 768.0 * 0x1p20)
    private static let usualCount = 512.0 * 512
    /// The memory limit of a network as a multiple of its weights.
    private static let weightFactor = 64.0
    /// The multiply-adds of a run at the usual image size without weights, and for each weight:
    /// four times as many as if each were applied at each pixel.
    private static let (usualWork, weightWork) = (2e11, 0x1p20)
    /// Sizes between these times the usual one change the limit of work.
    private static let workShares = 1.0...256.0

    private var inputCount: Int {
        inputs.reduce(0) { $0 + min($1.shape.count, Shape.maximumCount) }
    }

    private var weightCount: Int { variables.values.reduce(0) { $0 + $1.shape.count } }

    /// The default memory limit for the network's activations in bytes.
    private var usualMemory: Double {
        Self.usualMemory(inputCount: inputCount, weightBytes: 4 * weightCount)
    }

    /// The default memory limit for a network's activations in bytes.
    static func usualMemory(inputCount: Int, weightBytes: Int) -> Double {
        let share = Double(inputCount) / usualCount
        return max(
            leastMemory, usualMemory * share, weightFactor * Double(weightBytes) * max(share, 1))
    }

    /// The memory limit for the network's activations in bytes.
    var memoryLimit: Double { model.execution.memoryLimit.map(Double.init) ?? usualMemory }

    /// The limit of a run's multiply-adds. A caller who allows more memory expects more work, too.
    var workLimit: Double {
        let share = Double(inputCount) / Self.usualCount
        let usual = Self.usualWork + Self.weightWork * Double(weightCount)
        return usual * min(max(share, Self.workShares.lowerBound), Self.workShares.upperBound)
            * max(memoryLimit / usualMemory, 1)
    }

    /// Refuses a network whose run takes far longer than that of any real one of its size.
    ///
    /// - Throws: ``ModelError``.
    func checkWork() throws(ModelError) {
        let limit = workLimit
        let (work, longest) = graph.work(of: outputs.map(\.value))
        guard work > limit, let longest else { return }
        let place = longest.module.isEmpty ? "" : " in \(longest.module)"
        throw ModelError(
            .notRunnable, model.name,
            "a run would take the time of \(Self.text(work)) multiply-adds, most of it in "
                + "\(longest.operation.name)\(place); the limit for its inputs and weights is "
                + "\(Self.text(limit)). Run it on smaller inputs or, if it is meant to take so "
                + "long, raise the limit of memory, which raises that of work")
    }

    private static func text(_ count: Double) -> String {
        let digits = ["", " thousand", " million", " billion", " trillion"]
        var (rest, step) = (count, 0)
        while rest >= 1000, step < digits.count - 1 { (rest, step) = (rest / 1000, step + 1) }
        return rest < 1e15 ? "\(Int(rest.rounded(.up)))\(digits[step])" : "over 10²⁷"
    }
}

extension CompileOptions {
    /// The options with the memory limit of a network.
    func limited(for graph: ModelGraph) -> CompileOptions {
        var limited = self
        limited.memoryLimit = Int(min(Double(memoryLimit), graph.memoryLimit))
        return limited
    }
}
