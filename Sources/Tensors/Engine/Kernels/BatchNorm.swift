import CRetintKernels
import RetintCompiler
import RetintGraph

/// Two sums per channel over all pixels, from partial sums that are added in the order of the
/// threads.
///
/// If the kernel that computes the pixels is an ``ObservableKernel``, it passes them on as it
/// finishes them, and a run only adds the partial sums.
class ChannelSumsKernel: Kernel, ObservingKernel {
    /// One thread's sums, [2, channels], over the pixels that it has read. Everything is behind
    /// pointers: the threads share the array of these, and must not change it.
    struct Partial {
        let sums: UnsafeMutablePointer<Double>
        /// The values subtracted from the pixels before summing.
        let origin: UnsafeMutablePointer<Float>
        /// The pixels of this run and of the last one, in turns, and which is this run's.
        let counts: UnsafeMutablePointer<Int>

        var turn: Int { counts[2] }

        /// The pixels of the run in whose turn another thread is: this thread may be one ahead.
        func pixels(_ turn: Int) -> Int { counts[turn] }

        func add(pixels: Int) { counts[turn] += pixels }

        /// The next run counts from zero. The other threads may still read this run's count.
        func endRun() {
            counts[1 - turn] = 0
            counts[2] = 1 - turn
        }
    }

    let rows: Int
    let channels: Int
    let output: Buffer
    final var isObserving = false
    private var partials: [Partial] = []

    init(name: String, input: Buffer, output: Buffer) {
        channels = input.shape[1]
        rows = input.count / channels
        self.output = output
        super.init(name: name, work: input.count)
    }

    /// See ``ObservingKernel/observedInput``.
    var observedInput: Int { 0 }

    deinit { deallocate() }

    private func deallocate() {
        for partial in partials {
            partial.sums.deallocate()
            partial.origin.deallocate()
            partial.counts.deallocate()
        }
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        deallocate()
        partials = (0..<threads).map { _ in
            let partial = Partial(
                sums: .allocate(capacity: 2 * channels), origin: .allocate(capacity: channels),
                counts: .allocate(capacity: 3))
            partial.sums.initialize(repeating: 0, count: 2 * channels)
            partial.origin.initialize(repeating: 0, count: channels)
            partial.counts.initialize(repeating: 0, count: 3)
            return partial
        }
    }

    override var phases: Int { isObserving ? 1 : 2 }

    /// Adds the pixels `range` to a thread's sums.
    func accumulate(_ range: Range<Int>, to partial: Partial) {}
    /// Writes two results of some channels, [2, channels], from the partial sums of all threads.
    ///
    /// - Parameter turn: whose pixels count.
    func combine(
        _ partials: UnsafeBufferPointer<Partial>, turn: Int, _ range: Range<Int>,
        into y: UnsafeMutablePointer<Float>
    ) {}

    /// Adds finished elements of the observed input to the sums.
    final func observe(_ elements: Range<Int>, thread: Int) {
        let range = elements.lowerBound / channels..<elements.upperBound / channels
        guard !range.isEmpty else { return }
        accumulate(range, to: partials[thread])
        partials[thread].add(pixels: range.count)
    }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        if !isObserving && phase == 0 {
            let range = part.range(rows)
            observe(range.lowerBound * channels..<range.upperBound * channels, thread: part.index)
        } else {
            combine(part)
        }
    }

    /// Combines the sums of a thread's channels, and sets them to zero for the next run.
    private func combine(_ part: Part) {
        let (range, own) = (part.range(channels), partials[part.index])
        partials.withUnsafeBufferPointer {
            combine($0, turn: own.turn, range, into: output.pointer)
        }
        for partial in partials {
            for row in 0..<2 {
                (partial.sums + row * channels + range.lowerBound)
                    .update(repeating: 0, count: range.count)
            }
        }
        own.endRun()
    }
}

/// Means and biased variances, from sums relative to each thread's first pixel, which avoids
/// cancellation.
final class BatchMomentsKernel: ChannelSumsKernel {
    private let input: Buffer

    init(input: Buffer, output: Buffer) {
        self.input = input
        super.init(name: BatchMoments.name, input: input, output: output)
    }

    override func accumulate(_ range: Range<Int>, to partial: Partial) {
        let x = input.pointer
        if partial.pixels(partial.turn) == 0 {
            partial.origin.update(from: x + range.lowerBound * channels, count: channels)
        }
        rt_column_moments(
            partial.sums, x, partial.origin, channels, range.lowerBound, range.upperBound)
    }

    /// Combines partial moments after Chan, Golub and LeVeque, "Updating Formulae and a Pairwise
    /// Algorithm for Computing Sample Variances", 1979.
    override func combine(
        _ partials: UnsafeBufferPointer<Partial>, turn: Int, _ range: Range<Int>,
        into y: UnsafeMutablePointer<Float>
    ) {
        for channel in range {
            var (count, mean, squares) = (0.0, 0.0, 0.0)
            for partial in partials where partial.pixels(turn) > 0 {
                let (own, sum) = (Double(partial.pixels(turn)), partial.sums[channel])
                let distance = Double(partial.origin[channel]) + sum / own - mean
                squares += partial.sums[channels + channel] - sum * sum / own
                squares += distance * distance * count * own / (count + own)
                count += own
                mean += distance * own / count
            }
            (y[channel], y[channels + channel]) = (Float(mean), Float(max(squares / count, 0)))
        }
    }
}

/// Σ dy and Σ dy·x̂ per channel.
final class BatchNormGradientSumsKernel: ChannelSumsKernel {
    private let x: Buffer
    private let moments: Buffer
    private let gradient: Buffer
    private let epsilon: Float

    init(epsilon: Float, x: Buffer, moments: Buffer, gradient: Buffer, output: Buffer) {
        self.x = x
        self.moments = moments
        self.gradient = gradient
        self.epsilon = epsilon
        super.init(name: BatchNormGradientSums.name, input: x, output: output)
    }

    /// The gradient.
    override var observedInput: Int { 2 }

    override func accumulate(_ range: Range<Int>, to partial: Partial) {
        rt_column_products(
            partial.sums, x.pointer, gradient.pointer, moments.pointer, channels, range.lowerBound,
            range.upperBound)
    }

    override func combine(
        _ partials: UnsafeBufferPointer<Partial>, turn: Int, _ range: Range<Int>,
        into y: UnsafeMutablePointer<Float>
    ) {
        let variances = moments.pointer + channels
        for channel in range {
            var (sum, products) = (0.0, 0.0)
            for partial in partials {
                sum += partial.sums[channel]
                products += partial.sums[channels + channel]
            }
            let variance = Double(variances[channel]) + Double(epsilon)
            y[channel] = Float(sum)
            y[channels + channel] = Float(products / variance.squareRoot())
        }
    }
}

extension BatchMoments: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        BatchMomentsKernel(input: inputs[0], output: output)
    }
}

extension BatchNormGradientSums: KernelOperation {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        BatchNormGradientSumsKernel(
            epsilon: epsilon, x: inputs[0], moments: inputs[1], gradient: inputs[2],
            output: output)
    }
}

extension BatchNormInference: CPUOperation {}
extension BatchNormInputGradient: CPUOperation {}
extension BatchNormTraining: CPUOperation {}
