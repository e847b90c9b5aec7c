extension Collection where Element == String {
    /// The first names, and how many there are beside them: `w1, w2, w3 and 4 more`.
    public func listed(_ most: Int = 3) -> String {
        prefix(most).joined(separator: ", ") + (count > most ? " and \(count - most) more" : "")
    }
}
