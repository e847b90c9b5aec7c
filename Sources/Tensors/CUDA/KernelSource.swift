import RetintCompiler
import RetintGraph
import RetintTensors

/// A kernel's source in the part of C that NVRTC and the compiler of the machine both understand.
/// What differs, how elements are shared out, is in the prelude that each puts before it.
package struct KernelSource: Hashable, Sendable {
    /// A name for the function that is unique among different sources of one program.
    package let name: String
    /// The function, whose parameters are pointers to floats.
    package let text: String
}
