import Foundation
import Retint

/// An SVG plot of the error along a network: operations from left to right, and the error relative
/// to the expected values on a logarithmic axis.
struct ErrorPlot {
    private struct Point {
        let index: Int
        let layer: VerificationReport.Layer
        let error: VerificationReport.LayerError
    }

    private let points: [Point]
    private let count: Int
    private let tolerance: LayerTolerance
    /// The ends of the axis as powers of ten.
    private let bottom: Int
    private let top: Int

    private static let (width, height) = (1040.0, 300.0)
    private static let (left, right, above, below) = (58.0, 12.0, 12.0, 150.0)

    /// Nil if no intermediate value was compared.
    init?(_ report: VerificationReport) {
        points = report.layers.enumerated().compactMap { index, layer in
            layer.error.map { Point(index: index, layer: layer, error: $0) }
        }
        guard !points.isEmpty else { return nil }
        count = report.layers.count
        tolerance = report.layerTolerance
        let bounds = [tolerance.maxRelative, tolerance.minSNR.map(Self.noise)].compactMap { $0 }
        let values = (points.flatMap { [$0.error.relative, $0.error.noise] } + bounds)
            .filter { $0 > 0 && $0.isFinite }
        bottom = max(Int(log10(values.min() ?? 1e-8).rounded(.down)), -12)
        top = max(Int(log10(values.max() ?? 1).rounded(.up)), bottom + 1)
    }

    /// The root mean square error relative to the expected values, from the SNR in dB.
    private static func noise(_ snr: Double) -> Double { pow(10, -snr / 20) }

    var svg: String {
        let size = "0 0 \(Int(Self.width)) \(Int(Self.height + Self.below))"
        return """
            <svg viewBox="\(size)" role="img" aria-label="Error along the network">
            \(grid)\(bounds)\(line(\.relative, "largest"))\(line(\.noise, "noise"))\(marks)\(names)
            </svg>
            """
    }

    private func x(_ index: Int) -> Double {
        let room = Self.width - Self.left - Self.right
        return Self.left + room * (Double(index) + 0.5) / Double(count)
    }

    /// An error of 0 is on the bottom line, a NaN or infinite one on the top line.
    private func y(_ value: Double) -> Double {
        guard value.isFinite else { return Self.above }
        let power = value > 0 ? log10(value) : Double(bottom)
        let share = (min(max(power, Double(bottom)), Double(top)) - Double(bottom))
        return Self.above + (Self.height - Self.above) * (1 - share / Double(top - bottom))
    }

    private var grid: String {
        (bottom...top).map { power in
            let height = y(pow(10, Double(power)))
            return """
                <line class="grid" x1="\(Self.left)" x2="\(Self.width - Self.right)" \
                y1="\(svg: height)" y2="\(svg: height)"/>\
                <text class="axis" x="\(Self.left - 6)" y="\(svg: height + 4)">\
                10<tspan dy="-5" font-size="8">\(power)</tspan></text>

                """
        }.joined()
    }

    private var bounds: String {
        let lines = [
            (tolerance.maxRelative, "largest"), (tolerance.minSNR.map(Self.noise), "noise"),
        ]
        return lines.compactMap { value, name in
            value.map {
                """
                <line class="bound \(name)" x1="\(Self.left)" x2="\(Self.width - Self.right)" \
                y1="\(svg: y($0))" y2="\(svg: y($0))"><title>tolerance</title></line>

                """
            }
        }.joined()
    }

    private func line(_ value: (VerificationReport.LayerError) -> Double, _ name: String) -> String
    {
        let corners = points.map { "\(svg: x($0.index)),\(svg: y(value($0.error)))" }
        return "<polyline class=\"\(name)\" points=\"\(corners.joined(separator: " "))\"/>\n"
    }

    /// A dot for each operation, with its name and errors as a tooltip.
    private var marks: String {
        points.map { point in
            let text =
                "\(point.layer.value.name) (\(point.layer.value.operation)): SNR "
                + "\(Format.fixed(point.error.snr, 1)) dB, largest error "
                + "\(Format.significant(point.error.relative)) of the largest value"
            return """
                <circle class="\(point.error.holds ? "noise" : "past")" r="3.2" \
                cx="\(svg: x(point.index))" cy="\(svg: y(point.error.noise))">\
                <title>\(text.escapedForHTML)</title></circle>

                """
        }.joined()
    }

    /// The operations' names, at most 80.
    private var names: String {
        let step = max((points.count + 79) / 80, 1)
        return points.enumerated().filter { $0.offset.isMultiple(of: step) }.map { _, point in
            let (x, y) = (x(point.index) + 3, Self.height + 10)
            return """
                <text class="name" transform="translate(\(svg: x),\(svg: y)) rotate(-90)">\
                \(point.layer.value.name.shortened(22).escapedForHTML)</text>

                """
        }.joined()
    }
}

extension VerificationReport.LayerError {
    /// The root mean square error relative to the expected values; NaN if it is unknown.
    fileprivate var noise: Double { snr.isNaN ? .nan : pow(10, -snr / 20) }
}

extension String {
    /// The last characters of a long name, in which names differ.
    fileprivate func shortened(_ length: Int) -> String {
        count <= length ? self : "…" + suffix(length - 1)
    }
}

extension DefaultStringInterpolation {
    /// A coordinate.
    fileprivate mutating func appendInterpolation(svg value: Double) {
        appendLiteral(Format.fixed(value, 1))
    }
}
