import Foundation
public import RetintFiles

/// Curves over a common axis, as SVG.
public struct LinePlot {
    /// A curve or a set of labeled points.
    public struct Series {
        let name: String
        let points: [(x: Double, y: Double)]
        /// If set, the points are drawn with these labels instead of a line.
        let labels: [String]?

        /// A curve through points, or these points with their labels.
        public init(_ name: String, _ points: [(x: Double, y: Double)], labels: [String]? = nil) {
            (self.name, self.points, self.labels) = (name, points, labels)
        }
    }

    private let title: String
    private let series: [Series]
    private let marker: (x: Double, label: String)?
    private let xAxis, yAxis: PlotAxis
    /// The space for the labels of the y axis.
    private let left: Double
    private static let (width, height) = (520.0, 260.0)
    /// The space above a standalone picture for its title.
    private static let head = 20.0
    private static let (right, above, below) = (12.0, 12.0, 34.0)
    /// The space for the labels of the y axis: at least, and for each character of the longest.
    private static let (leastLeft, character) = (58.0, 6.0)
    /// The largest number of points of a curve whose values are shown where the mouse is.
    private static let mostHints = 100
    /// The colors `--curve1` … of a page's style.
    private static let colorCount = 6

    /// - Parameters:
    ///   - marker: A place on the x axis to mark with a dashed line.
    ///   - isLogarithmic: Whether each axis is logarithmic; then points with values of 0 or less
    ///     are omitted.
    public init(
        _ title: String, xLabel: String, _ series: [Series],
        marker: (x: Double, label: String)? = nil,
        isLogarithmic: (x: Bool, y: Bool) = (false, false)
    ) {
        (self.title, self.marker) = (title, marker)
        self.series = series.map { curve in
            let kept = curve.points.indices.filter { index in
                let point = curve.points[index]
                return point.x.isFinite && point.y.isFinite
                    && (!isLogarithmic.x || point.x > 0) && (!isLogarithmic.y || point.y > 0)
            }
            return Series(
                curve.name, kept.map { curve.points[$0] },
                labels: curve.labels.map { labels in kept.map { labels[$0] } })
        }
        let points = self.series.flatMap(\.points)
        xAxis = PlotAxis(
            points.map(\.x) + (marker.map { [$0.x] } ?? []), isLogarithmic: isLogarithmic.x,
            label: xLabel)
        let yAxis = PlotAxis(points.map(\.y), isLogarithmic: isLogarithmic.y, label: "")
        let longest = yAxis.ticks.map { yAxis.text($0).count }.max() ?? 0
        self.yAxis = yAxis
        left = max(Self.leastLeft, Self.character * Double(longest) + 12)
    }

    /// The plot with its title, and a legend if there are several curves.
    public var html: String {
        """
        <figure class="plot">\
        <figcaption\(HTMLPage.hint(title))>\(title.escapedForHTML) \(key)</figcaption>
        <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" \
        aria-label="\(title.escapedForHTML)">\(drawing)</svg>
        </figure>
        """
    }

    /// Writes the plot as a standalone picture, replacing an existing file.
    ///
    /// - Throws: `FileError` if it cannot be written.
    public func write(to path: some PathConvertible) throws {
        let names =
            series.count < 2
            ? []
            : series.indices.map { index in
                "<tspan dx=\"8\" style=\"fill:\(color(index))\">● "
                    + "\(series[index].name.escapedForHTML)</tspan>"
            }
        let picture = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(1.5 * Self.width))" \
            height="\(Int(1.5 * (Self.height + Self.head)))" \
            viewBox="0 \(-Int(Self.head)) \(Int(Self.width)) \(Int(Self.height + Self.head))">
            <style>\(HTMLPage.colors)\(HTMLPage.plotStyle)</style>
            <rect y="\(-Int(Self.head))" width="100%" height="100%" style="fill:var(--page)"/>
            <text x="\(number(left))" y="-4" style="text-anchor:start">\
            \(title.escapedForHTML)\(names.joined())</text>
            \(drawing)
            </svg>

            """
        try AtomicFile.write(Array(picture.utf8), to: path)
    }

    private var drawing: String {
        grid + markerLine + series.indices.map(curve).joined()
    }

    private var key: String {
        guard series.count > 1 else { return "" }
        return series.indices.map { index in
            "<span style=\"color:\(color(index))\">● \(series[index].name.escapedForHTML)</span>"
        }.joined(separator: " ")
    }

    private func color(_ index: Int) -> String { "var(--curve\(index % Self.colorCount + 1))" }

    private func position(of point: (x: Double, y: Double)) -> (x: Double, y: Double) {
        let room = (Self.width - left - Self.right, Self.height - Self.above - Self.below)
        return (
            left + room.0 * xAxis.share(point.x),
            Self.above + room.1 * (1 - yAxis.share(point.y))
        )
    }

    private func curve(_ index: Int) -> String {
        let positions = series[index].points.map(position)
        if let labels = series[index].labels {
            return positions.indices.map { place in
                let point = positions[place]
                // A label at the right edge stands to the left of its point.
                let isLeft = point.x > 0.75 * Self.width
                return circle(
                    point, radius: 3.5, style: "fill:\(color(index))",
                    hint: "\(labels[place]): \(values(of: series[index].points[place]))")
                    + text(
                        isLeft ? point.x - 6 : point.x + 6, point.y - 5,
                        labels[place].escapedForHTML, anchor: isLeft ? "end" : "start")
            }.joined()
        }
        let line = positions.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        // A line through one point would be invisible.
        let dot =
            positions.count == 1
            ? circle(positions[0], radius: 3, style: "fill:\(color(index))", hint: "") : ""
        return "<polyline points=\"\(line)\" style=\"stroke:\(color(index))\"/>" + dot
            + hints(index, positions)
    }

    /// Invisible points of a curve that show their values where the mouse is.
    private func hints(_ index: Int, _ positions: [(x: Double, y: Double)]) -> String {
        let distance = positions.count / Self.mostHints + 1
        return stride(from: 0, to: positions.count, by: distance).map { place in
            circle(
                positions[place], radius: 5, style: "fill:transparent",
                hint: (series[index].name.isEmpty ? "" : series[index].name + ": ")
                    + values(of: series[index].points[place]))
        }.joined()
    }

    private func values(of point: (x: Double, y: Double)) -> String {
        String(format: "%.5g at %.7g ", point.y, point.x) + xAxis.label
    }

    private func circle(
        _ center: (x: Double, y: Double), radius: Double, style: String, hint: String
    ) -> String {
        """
        <circle cx="\(number(center.x))" cy="\(number(center.y))" r="\(number(radius))" \
        style="\(style)"><title>\(hint.escapedForHTML)</title></circle>
        """
    }

    private var grid: String {
        let bottom = Self.height - Self.below
        let columns = xAxis.ticks.map { tick in
            let x = position(of: (tick, yAxis.low)).x
            return line(x, Self.above, x, bottom)
                + text(x, bottom + 14, xAxis.text(tick), anchor: "middle")
        }
        let rows = yAxis.ticks.map { tick in
            let y = position(of: (xAxis.low, tick)).y
            return line(left, y, Self.width - Self.right, y)
                + text(left - 6, y + 3, yAxis.text(tick), anchor: "end")
        }
        let label = text(
            Self.width - Self.right, Self.height - 4, xAxis.label.escapedForHTML, anchor: "end")
        return columns.joined() + rows.joined() + label
    }

    /// The label is to the right of the line if there is room.
    private var markerLine: String {
        guard let marker else { return "" }
        let x = position(of: (marker.x, yAxis.low)).x
        let isLeft = x > 0.75 * Self.width
        return line(x, Self.above, x, Self.height - Self.below, style: "marker")
            + text(
                isLeft ? x - 5 : x + 5, Self.height - Self.below - 8, marker.label.escapedForHTML,
                anchor: isLeft ? "end" : "start")
    }

    private func line(
        _ x: Double, _ y: Double, _ toX: Double, _ toY: Double, style: String = "grid"
    ) -> String {
        """
        <line class="\(style)" x1="\(number(x))" y1="\(number(y))" x2="\(number(toX))" \
        y2="\(number(toY))"/>
        """
    }

    private func text(_ x: Double, _ y: Double, _ text: String, anchor: String) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" style=\"text-anchor:\(anchor)\">\(text)</text>"
    }

    private func number(_ value: Double) -> String { String(format: "%.1f", value) }
}

/// The range of an axis and its grid lines.
struct PlotAxis {
    let low, high: Double
    let ticks: [Double]
    let label: String
    private let isLogarithmic: Bool

    init(_ values: [Double], isLogarithmic: Bool, label: String) {
        (self.isLogarithmic, self.label) = (isLogarithmic, label)
        let first = values.min() ?? (isLogarithmic ? 0.1 : 0)
        let last = max(values.max() ?? 1, first)
        if isLogarithmic {
            let marks = Self.marks(from: first, to: last)
            (low, high) = (marks[0], marks[marks.count - 1])
            ticks = marks
        } else {
            // Values that are all equal are in the middle.
            let span = last > first ? last - first : abs(last) * 0.1
            let step = Self.step(max(span, abs(last) * 1e-6, 1e-12) / 5)
            let (below, above) = ((first / step).rounded(.down), (last / step).rounded(.up))
            let margin = below == above ? 1.0 : 0
            (low, high) = ((below - margin) * step, (above + margin) * step)
            let count = max(Int(((high - low) / step).rounded()), 1)
            let start = low
            ticks = (0...count).map { start + Double($0) * step }
        }
    }

    /// 1, 2 and 5 times powers of ten that enclose the range; only powers if it spans many.
    private static func marks(from first: Double, to last: Double) -> [Double] {
        let powers = Int(log10(first).rounded(.down))...Int(log10(last).rounded(.up))
        let factors = powers.count > 5 ? [1.0] : [1, 2, 5]
        let all = powers.flatMap { power in factors.map { $0 * pow(10, Double(power)) } }
        let below = all.lastIndex { $0 <= first } ?? 0
        let above = all.firstIndex { $0 >= last } ?? all.count - 1
        let marks = Array(all[below...max(above, min(below + 1, all.count - 1))])
        return marks.enumerated().filter { index, _ in
            index == 0 || index == marks.count - 1 || index % (marks.count / 8 + 1) == 0
        }.map(\.element)
    }

    /// 1, 2 or 5 times a power of ten, at least `least`.
    private static func step(_ least: Double) -> Double {
        let power = pow(10, log10(least).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? 10 * power
    }

    /// The position of a value along the axis, 0…1.
    func share(_ value: Double) -> Double {
        guard high > low else { return 0.5 }
        return isLogarithmic
            ? (log10(value) - log10(low)) / (log10(high) - log10(low))
            : (value - low) / (high - low)
    }

    func text(_ tick: Double) -> String {
        isLogarithmic
            ? String(format: "%g", tick) : String(format: "%.6g", abs(tick) < 1e-12 ? 0 : tick)
    }
}
