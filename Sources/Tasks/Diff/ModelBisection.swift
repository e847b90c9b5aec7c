/// Which of a sequence of models is the first to differ from the first one, as `git bisect` finds a
/// commit: each step halves the models that it can be. If models differ and are equal again later,
/// it finds one place where that begins.
public enum ModelBisection {
    /// - Parameters:
    ///   - count: the number of models, of which the first one is equal to itself.
    ///   - differs: whether the model at an index differs from the first one.
    /// - Returns: the index; nil if the last model does not differ.
    public static func firstDifferent(
        of count: Int, differs: (Int) throws -> Bool
    ) rethrows -> Int? {
        guard count > 1, try differs(count - 1) else { return nil }
        var (equal, different) = (0, count - 1)
        while different - equal > 1 {
            let middle = equal + (different - equal) / 2
            if try differs(middle) { different = middle } else { equal = middle }
        }
        return different
    }
}
