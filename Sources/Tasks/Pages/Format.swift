import Foundation

/// Numbers as people read them.
public enum Format {
    /// A number with its noun, such as `1 difference` or `2 differences`.
    public static func counted(_ count: Int, _ noun: String) -> String {
        "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    /// A number with `digits` digits after the decimal point.
    public static func fixed(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite else { return value.isNaN ? "-" : value < 0 ? "-∞" : "∞" }
        return String(format: "%.\(digits)f", value)
    }

    /// 32236011 → 32,236,011.
    public static func grouped(_ count: Int) -> String {
        let digits = Array(String(count.magnitude))
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// 1536 → 1.5 KiB.
    public static func bytes(_ count: Int) -> String {
        var (value, unit) = (Double(count), 0)
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        return unit == 0 ? "\(count) bytes" : "\(fixed(value, 1)) \(units[unit])"
    }

    /// 0.0123 → 12.3 ms; 75 → 1:15; 3725 → 1:02:05.
    public static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite else { return "-" }
        if seconds < 0.001 { return "\(fixed(seconds * 1e6, 1)) µs" }
        if seconds < 1 { return "\(fixed(seconds * 1e3, seconds < 0.1 ? 2 : 1)) ms" }
        if seconds < 60 { return "\(fixed(seconds, seconds < 10 ? 2 : 1)) s" }
        let whole = Int(seconds.rounded())
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, rest)
            : String(format: "%d:%02d", minutes, rest)
    }
}
