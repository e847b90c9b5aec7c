extension Set<String> {
    /// Adds a name like `wish` that is not in the set, and returns it: `wish`, `wish_1`, `wish_2`.
    ///
    /// Thousands of values may ask for the same name, so the number is searched for in steps that
    /// double. It is the smallest unused one if the numbers in use have no gaps.
    ///
    /// - Parameter first: the first number.
    package mutating func insertUnused(_ wish: String, from first: Int = 1) -> String {
        if insert(wish).inserted { return wish }
        func isUsed(_ number: Int) -> Bool { contains("\(wish)_\(number)") }
        var (used, step) = (first - 1, 1)
        while isUsed(used + step) {
            used += step
            step *= 2
        }
        var unused = used + step
        while unused - used > 1 {
            let middle = (used + unused) / 2
            if isUsed(middle) { used = middle } else { unused = middle }
        }
        let name = "\(wish)_\(unused)"
        insert(name)
        return name
    }
}
