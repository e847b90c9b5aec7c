/// Rounds to the nearest half-precision number, ties to even; too large gives infinity. What an
/// accelerator that computes in float16 does to each result.
package struct RoundToHalf: UnaryElementwise {
    package static let name = "round_to_half"

    package init() {}
}
