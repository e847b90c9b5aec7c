/// What stands before the kernels: how a machine shares out elements, and functions that C does not
/// have.
package enum Prelude {
    /// For NVRTC: a thread computes every element whose index is its own plus a multiple of the
    /// number of threads.
    package static let device = """
        #define RT_KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
        #define RT_EACH(i, count) \\
            for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; \\
                 i < (count); i += gridDim.x * (long long)blockDim.x)
        #define RT_FUNCTION static __device__ __forceinline__
        #define RT_NAN __int_as_float(0x7fffffff)
        #define RT_INFINITY __int_as_float(0x7f800000)
        RT_FUNCTION int rt_bits(float x) { return __float_as_int(x); }
        RT_FUNCTION float rt_float(int bits) { return __int_as_float(bits); }

        """ + functions

    /// For the compiler of the machine: one thread computes all elements.
    package static let host = """
        #include <math.h>
        #include <string.h>
        #define RT_KERNEL(name, ...) void name(__VA_ARGS__)
        #define RT_EACH(i, count) for (long long i = 0; i < (count); i++)
        #define RT_FUNCTION static inline
        #define RT_NAN __builtin_nanf("")
        #define RT_INFINITY __builtin_inff()
        RT_FUNCTION int rt_bits(float x) { int bits; memcpy(&bits, &x, 4); return bits; }
        RT_FUNCTION float rt_float(int bits) { float x; memcpy(&x, &bits, 4); return x; }

        """ + functions

    private static let functions = """
        // NaN in either operand stays NaN, as in PyTorch.
        RT_FUNCTION float rt_max(float x, float y) { return x > y || x != x ? x : y; }
        RT_FUNCTION float rt_min(float x, float y) { return x < y || x != x ? x : y; }
        // The nearest half-precision value, ties to even; infinity above 65504.
        RT_FUNCTION float rt_round_to_half(float x) {
            int bits = rt_bits(x), magnitude = bits & 0x7fffffff;
            if (magnitude > 0x7f800000) return x;
            float y;
            if (magnitude < 0x38800000) {
                y = (rt_float(magnitude) + 0.5f) - 0.5f;
            } else {
                int rounded = (magnitude + 0x0fff + ((magnitude >> 13) & 1)) & ~0x1fff;
                y = rounded >= 0x47800000 ? RT_INFINITY : rt_float(rounded);
            }
            return bits < 0 ? -y : y;
        }

        """
}
