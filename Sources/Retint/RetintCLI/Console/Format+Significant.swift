import Foundation
import Retint

extension Format {
    /// Three significant digits: 0.000123 → 1.23e-04.
    static func significant(_ value: Double) -> String {
        value.isFinite ? String(format: "%.2e", value) : fixed(value, 0)
    }
}
