import RetintCompiler
import RetintGraph
import RetintTensors

/// A value in memory as [outer, count, inner], of which the middle axis is reduced.
private struct ReducedAxis {
    let outer, count, inner: Int
}

extension ReducedAxis {
    /// - Precondition: the axes are adjacent in memory.
    fileprivate init(_ axes: [Int], of shape: Shape) {
        let order = Layout.axes(rank: shape.rank)
        let reduced = order.indices.filter { axes.contains(order[$0]) && shape[order[$0]] != 1 }
        let first = reduced.first ?? order.count
        let last = reduced.last.map { $0 + 1 } ?? order.count
        precondition(
            order[first..<last].allSatisfy { axes.contains($0) || shape[$0] == 1 },
            "axes \(axes) of \(shape) are adjacent in memory")
        outer = order[..<first].map { shape[$0] }.reduce(1, *)
        count = order[first..<last].map { shape[$0] }.reduce(1, *)
        inner = order[last...].map { shape[$0] }.reduce(1, *)
    }
}

/// How many parts a GPU is kept busy with: more than any has multiprocessors, several for each.
private let busyBlocks = 512

/// How many threads a block has for 32 columns of `rows` rows each. With more threads, those that
/// wait for memory hold up less of the work.
private func columnThreads(_ rows: Int) -> Int { rows > 64 ? 1024 : 256 }

/// How a reduction combines elements. A block has a part of the elements; if several blocks share
/// those of one result, others combine what they have, always in the same order.
private struct BlockReduction {
    /// The type of a thread's value, and what it begins with.
    let type, start: String
    /// The value of a thread with one more element.
    let combined: (_ value: String, _ element: String) -> String
    /// The functions of the prelude that combine values of a block.
    let blockFunction, columnFunction: String
    /// The element of the result.
    let finished: (_ value: String) -> String

    func kernels(
        _ name: String, _ axis: ReducedAxis, _ input: Buffer, _ output: Buffer
    ) -> [DeviceKernel] {
        let isRow = axis.inner == 1
        let tiles = (axis.inner + 31) / 32
        let blocks = axis.outer * tiles
        let fewest = isRow ? 4096 : 64
        let parts = min(max(busyBlocks / blocks, 1), max(axis.count / fewest, 1))
        let reduce = isRow ? rows : columns
        guard parts > 1 else {
            return [reduce(name, axis, 1, input, output, finished)]
        }
        let storage = Storage(kind: .owned, count: axis.outer * parts * axis.inner)
        let partial = Buffer(shape: [storage.count], storage: storage)
        var first = reduce("\(name)_part", axis, parts, input, partial) { $0 }
        first.scratch = [storage]
        let rest = ReducedAxis(outer: axis.outer, count: parts, inner: axis.inner)
        return [first, reduce(name, rest, 1, partial, output, finished)]
    }

    /// The range of a block's elements of the reduced axis, from its part of `parts`.
    private func range(_ axis: ReducedAxis, _ parts: Int) -> String {
        let size = (axis.count + parts - 1) / parts
        return """
            const long long begin = part * \(size)LL;
            const long long end = begin + \(size) < \(axis.count) ? begin + \(size) : \(axis.count);
            """
    }

    private func rows(
        _ name: String, _ axis: ReducedAxis, _ parts: Int, _ input: Buffer, _ output: Buffer,
        _ finished: (String) -> String
    ) -> DeviceKernel {
        let threads = axis.count / parts <= 128 ? 32 : 256
        return DeviceKernel(
            name, [input, output], .blocks(axis.outer * parts, threads: threads),
            """
            RT_BLOCKS(b, \(axis.outer * parts)) {
                const long long part = b % \(parts), row = b / \(parts);
            \(indented(range(axis, parts), 4))
                \(type) value = \(start);
                RT_STRIDED(j, end - begin)
                    value = \(combined("value", "p0[row * \(axis.count) + begin + j]"));
                const float all = \(blockFunction)(value);
                RT_FIRST_THREAD p1[b] = \(finished("all"));
            }
            """)
    }

    private func columns(
        _ name: String, _ axis: ReducedAxis, _ parts: Int, _ input: Buffer, _ output: Buffer,
        _ finished: (String) -> String
    ) -> DeviceKernel {
        let tiles = (axis.inner + 31) / 32
        let blocks = axis.outer * parts * tiles
        let first = "row * \(axis.count * axis.inner)LL + c"
        return DeviceKernel(
            name, [input, output],
            .blocks(blocks, threads: columnThreads(axis.count / parts)),
            """
            RT_BLOCKS(b, \(blocks)) {
                const long long tile = b % \(tiles), part = b / \(tiles) % \(parts);
                const long long row = b / \(tiles * parts);
            \(indented(range(axis, parts), 4))
                RT_COLUMN(lane) {
                    const int c = tile * 32 + lane;
                    \(type) value = \(start);
                    if (c < \(axis.inner)) RT_ROWS(j, begin, end)
                        value = \(combined("value", "p0[\(first) + j * \(axis.inner)]"));
                    const float all = \(columnFunction)(value);
                    RT_FIRST_ROW if (c < \(axis.inner))
                        p1[(row * \(parts) + part) * \(axis.inner) + c] = \(finished("all"));
                }
            }
            """)
    }

    static func sum(finished: @escaping (String) -> String) -> BlockReduction {
        BlockReduction(
            type: "rt_sum", start: "0.0f", combined: { "\($0) + \($1)" },
            blockFunction: "rt_block_sum", columnFunction: "rt_column_sum", finished: finished)
    }

    static var maximum: BlockReduction {
        BlockReduction(
            type: "float", start: "-RT_INFINITY", combined: { "rt_max(\($0), \($1))" },
            blockFunction: "rt_block_max", columnFunction: "rt_column_max", finished: { $0 })
    }
}

/// A reduction on a GPU. Its axes are adjacent: the pass over the graph has split others.
private protocol DeviceReduction: AxisReduction, DeviceOperation {
    func reduction(of count: Int) -> BlockReduction
}

extension DeviceReduction {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let shape = inputs[0].shape
        guard let reduced = try? reducedAxes(of: shape) else {
            preconditionFailure("\(Self.name) of \(shape) has an output, so its axes are valid")
        }
        let axis = ReducedAxis(reduced, of: shape)
        return reduction(of: axis.count).kernels(Self.name, axis, inputs[0], output)
    }
}

extension Sum: DeviceReduction {
    fileprivate func reduction(of count: Int) -> BlockReduction { .sum { $0 } }
}

extension Mean: DeviceReduction {
    fileprivate func reduction(of count: Int) -> BlockReduction { .sum { "\($0) / \(count).0f" } }
}

extension Max: DeviceReduction {
    fileprivate func reduction(of count: Int) -> BlockReduction { .maximum }
}

// MARK: Sums of channels

/// Two sums for each channel of an image in memory, which `operands` have, and what is made of
/// them: several blocks share a channel's pixels, and others add what they have.
struct ChannelSums {
    let name: String
    let operands: [Buffer]
    /// Statements before the pixels of channel c, and for the element of each at `place`, which
    /// add to `s` and `t`.
    let setup, terms: String
    /// Statements that write the results of channel c from the sums `s` and `t`.
    let results: (_ parameter: String) -> String

    func kernels(to output: Buffer) -> [DeviceKernel] {
        let shape = operands[0].shape
        let (channels, pixels) = (shape[1], shape.count / shape[1])
        let tiles = (channels + 31) / 32
        let parts = min(max(busyBlocks / tiles, 1), max(pixels / 64, 1))
        let last = "p\(operands.count)"
        guard parts > 1 else {
            return [
                kernel(
                    name, channels, pixels, 1, operands + [output], setup, terms, results(last))
            ]
        }
        let storage = Storage(kind: .owned, count: parts * 2 * channels)
        let partial = Buffer(shape: [parts, 2, channels], storage: storage)
        var first = kernel(
            "\(name)_part", channels, pixels, parts, operands + [partial], setup, terms,
            """
            \(last)[part * \(2 * channels) + c] = s;
            \(last)[part * \(2 * channels) + \(channels) + c] = t;
            """)
        first.scratch = [storage]
        let sums = """
            s += \(last)[r * \(2 * channels) + c];
            t += \(last)[r * \(2 * channels) + \(channels) + c];
            """
        return [
            first,
            kernel(
                name, channels, parts, 1, operands + [partial, output], setup, sums,
                results("p\(operands.count + 1)")),
        ]
    }

    private func kernel(
        _ name: String, _ channels: Int, _ rows: Int, _ parts: Int, _ parameters: [Buffer],
        _ setup: String, _ terms: String, _ results: String
    ) -> DeviceKernel {
        let tiles = (channels + 31) / 32
        let size = (rows + parts - 1) / parts
        return DeviceKernel(
            name, parameters, .blocks(tiles * parts, threads: columnThreads(rows / parts)),
            """
            RT_BLOCKS(b, \(tiles * parts)) {
                const long long tile = b % \(tiles), part = b / \(tiles), begin = part * \(size);
                const long long end = begin + \(size) < \(rows) ? begin + \(size) : \(rows);
                RT_COLUMN(lane) {
                    const int c = tile * 32 + lane < \(channels) ? tile * 32 + lane : 0;
                    const int isInside = tile * 32 + lane < \(channels);
            \(indented(setup, 8))
                    rt_sum ownS = 0.0f, ownT = 0.0f;
                    if (isInside) RT_ROWS(r, begin, end) {
                        const long long place = r * \(channels) + c;
                        rt_sum s = 0.0f, t = 0.0f;
                        (void)place;
            \(indented(terms, 12))
                        ownS += s, ownT += t;
                    }
                    const float s = rt_column_sum(ownS), t = rt_column_sum(ownT);
                    RT_FIRST_ROW if (isInside) {
            \(indented(results, 12))
                    }
                }
            }
            """)
    }
}

// MARK: Distributions

/// A block of threads for each fiber along the axis.
private func softmaxKernel(
    along axis: Int, _ input: Buffer, _ output: Buffer, isLogarithm: Bool
) -> DeviceKernel {
    let shape = input.shape
    let axis = axis < 0 ? axis + shape.rank : axis
    let outer = View((0..<shape.rank).filter { $0 != axis }, of: shape)
    let place = "first + j * \(Layout.strides(shape)[axis])LL"
    let result =
        isLogarithm
        ? "p0[\(place)] - high - logf(sum)" : "expf(p0[\(place)] - high) / sum"
    return DeviceKernel(
        isLogarithm ? "log_softmax" : "softmax", [input, output],
        .blocks(outer.count, threads: shape[axis] <= 512 ? 32 : 256),
        """
        RT_BLOCKS(b, \(outer.count)) {
            const long long first = \(outer.source("b"));
            float high = -RT_INFINITY;
            rt_sum part = 0.0f;
            RT_STRIDED(j, \(shape[axis])) high = rt_max(high, p0[\(place)]);
            high = rt_block_max(high);
            RT_STRIDED(j, \(shape[axis])) part += expf(p0[\(place)] - high);
            const float sum = rt_block_sum(part);
            RT_STRIDED(j, \(shape[axis])) p1[\(place)] = \(result);
        }
        """)
}

extension Softmax: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        [softmaxKernel(along: axis, inputs[0], output, isLogarithm: false)]
    }
}

extension LogSoftmax: DeviceOperation {
    package func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        [softmaxKernel(along: axis, inputs[0], output, isLogarithm: true)]
    }
}
