import RetintGraph
import RetintTensors

/// The loss and the gradients of a step, over the examples of all ranks together.
package struct SharedGradients {
    /// The mean over the whole batch.
    package let loss: Tensor
    /// The gradients of that loss, in the order of the parameters.
    package let gradients: [Tensor]
    /// The sums of the ranks' ``StepRequests``; nil with one rank.
    package let requests: Tensor?
    /// The variables for the rounding errors of gradients, with their next values.
    let residuals: [Residual]

    typealias Residual = (variable: Tensor, next: Tensor)

    /// The variable of this rank's requests.
    static let requestsName = "requests"
    /// That variable without any request.
    package static var noRequests: [String: TensorData] { StepRequests().variables }
    /// A bucket is closed at this many elements, 8 MiB: larger ones wait longer for their first
    /// gradient, smaller ones send more messages.
    private static let mostElements = 1 << 21
    /// The buckets of a network that is smaller than these: most of it is sent during the backward
    /// pass.
    private static let leastBuckets = 8
    private static let leastElements = 1 << 14

    /// The prefix of variables for the rounding error of a parameter's gradient.
    static let residualPrefix = "residual."

    /// - Parameters:
    ///   - loss: the loss of this rank's examples.
    ///   - parameters: the parameters to differentiate with respect to.
    ///   - opponent: another loss, and the names of the parameters whose gradients are of that.
    ///   - scale: a factor of the loss while it is differentiated; nil for none.
    package init(
        of loss: Tensor, withRespectTo parameters: [Tensor], _ shares: BatchShares,
        _ compression: TrainingConfiguration.GradientCompression = .none,
        opponent: (loss: Tensor, names: Set<String>)? = nil, scale: Tensor? = nil
    ) throws(GraphError) {
        func gradients(_ loss: Tensor, _ parameters: [Tensor]) throws(GraphError) -> [Tensor] {
            guard let scale else {
                return try RetintGraph.gradients(of: loss, withRespectTo: parameters)
            }
            return try RetintGraph.gradients(of: loss * scale, withRespectTo: parameters)
                .map { $0 / scale }
        }
        // The sums over the ranks are then means over all examples.
        let share = shares.size > 1 ? Float(shares.weight(of: shares.rank)) : nil
        func shared(_ loss: Tensor) -> Tensor { share.map { loss * $0 } ?? loss }
        let part = shared(loss)
        var own = try gradients(part, parameters)
        if let opponent {
            let places = parameters.indices.filter {
                opponent.names.contains(parameters[$0].variableName)
            }
            let theirs = try gradients(shared(opponent.loss), places.map { parameters[$0] })
            for (place, gradient) in zip(places, theirs) { own[place] = gradient }
        }
        guard shares.size > 1 else {
            (self.loss, requests, residuals) = (loss, nil, [])
            self.gradients = own
            return
        }
        let requests = loss.graph.variable(
            Self.requestsName, [StepRequests.count], role: .setting)
        let (sums, residuals) = Self.sums(
            own, of: parameters, with: [part, requests], over: shares.size,
            compresses: compression == .float16)
        self.residuals = residuals
        self.gradients = Array(sums.dropLast(2))
        (self.loss, self.requests) = (sums[own.count], sums[own.count + 1])
    }

    /// Sums tensors over all ranks, in buckets.
    ///
    /// - Parameter last: tensors that come last and are not compressed.
    /// - Returns: the sums of both, and their rounding errors.
    private static func sums(
        _ gradients: [Tensor], of parameters: [Tensor], with last: [Tensor],
        over ranks: Int, compresses: Bool
    ) -> (sums: [Tensor], residuals: [Residual]) {
        var all = members(gradients)
        let lastMembers = last.enumerated().map { (gradients.count + $0, $1) }
        if compresses { all.append(lastMembers) } else { all[all.count - 1] += lastMembers }
        // All sums start before the first wait.
        let buckets = all.enumerated().map { channel, members in
            let isCompressed = compresses && channel < all.count - 1
            let residuals = isCompressed ? members.map { residual(of: parameters[$0.index]) } : nil
            return Bucket(
                members.map(\.tensor), residuals: residuals, over: ranks, channel: channel)
        }
        var (sums, next) = (gradients + last, [Residual]())
        for (channel, (bucket, members)) in zip(buckets, all).enumerated() {
            for (sum, member) in zip(bucket.sums, members) { sums[member.index] = sum }
            guard compresses, channel < all.count - 1 else { continue }
            for (loss, member) in zip(bucket.losses, members) {
                next.append((residual(of: parameters[member.index]), loss))
            }
        }
        return (sums, next)
    }

    /// Updated like running statistics: in each step whose values are finite.
    private static func residual(of parameter: Tensor) -> Tensor {
        parameter.graph.variable(
            residualPrefix + parameter.variableName, parameter.shape, role: .buffer)
    }

    private typealias Member = (index: Int, tensor: Tensor)

    /// The members of each bucket, in the order in which the backward pass computes them.
    private static func members(_ gradients: [Tensor]) -> [[Member]] {
        let all = gradients.reduce(0) { $0 + $1.shape.count }
        let enough = min(max(all / leastBuckets, leastElements), mostElements)
        var (buckets, elements) = ([[Member]()], 0)
        for (index, tensor) in gradients.enumerated().sorted(by: { $0.element.id < $1.element.id })
        {
            if elements >= enough {
                buckets.append([])
                elements = 0
            }
            buckets[buckets.count - 1].append((index, tensor))
            elements += tensor.shape.count
        }
        return buckets
    }
}

/// Requests of ranks before a step, known to all after it: they are sent with the gradients.
struct StepRequests: Hashable, Sendable {
    /// Whether to stop and save.
    var stops = false
    /// Whether the time is up.
    var isTimeUp = false
    /// The share of the time limit that has passed. One rank states it, so that the learning rates
    /// of all are equal; those of the others are 0.
    var elapsed: Float = 0

    /// The number of ``scalars``.
    static let count = 3

    init(stops: Bool = false, isTimeUp: Bool = false, elapsed: Float = 0) {
        (self.stops, self.isTimeUp, self.elapsed) = (stops, isTimeUp, elapsed)
    }

    /// - Parameter sums: the sums of ``scalars`` over all ranks.
    init(sums: [Float]) {
        (stops, isTimeUp, elapsed) = (sums[0] > 0, sums[1] > 0, sums[2])
    }

    var variables: [String: TensorData] {
        [SharedGradients.requestsName: TensorData(shape: [Self.count], scalars: scalars)]
    }

    private var scalars: [Float] { [stops ? 1 : 0, isTimeUp ? 1 : 0, elapsed] }
}
