/// What stands before the kernels: how a machine shares out elements and blocks, and functions that
/// C does not have.
///
/// A block is a group of threads, a multiple of 32, that work on one thing: `RT_STRIDED` shares out
/// its elements, and all its threads get what `rt_block_sum` and `rt_block_max` combine of their
/// values.
package enum Prelude {
    /// For NVRTC: a thread computes every element whose index is its own plus a multiple of the
    /// number of threads.
    package static let device = """
        #define RT_KERNEL(name, ...) extern "C" __global__ void name(__VA_ARGS__)
        #define RT_EACH(i, count) \\
            for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; \\
                 i < (count); i += gridDim.x * (long long)blockDim.x)
        #define RT_BLOCKS(b, count) \\
            for (long long b = blockIdx.x; b < (count); b += gridDim.x)
        #define RT_STRIDED(j, count) for (long long j = threadIdx.x; j < (count); j += blockDim.x)
        #define RT_FIRST_THREAD if (threadIdx.x == 0)
        typedef float rt_sum;
        #define RT_FUNCTION static __device__ __forceinline__
        #define RT_NAN __int_as_float(0x7fffffff)
        #define RT_INFINITY __int_as_float(0x7f800000)
        RT_FUNCTION int rt_bits(float x) { return __float_as_int(x); }
        RT_FUNCTION float rt_float(int bits) { return __int_as_float(bits); }

        """ + functions + """
            // The threads of a warp, then the warps of a block: always in the same order.
            #define RT_BLOCK_FUNCTION(name, combined, neutral) \\
                RT_FUNCTION float name(float value) { \\
                    __shared__ float warps[32]; \\
                    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32; \\
                    for (int step = 16; step > 0; step /= 2) { \\
                        const float other = __shfl_xor_sync(0xffffffff, value, step); \\
                        value = combined(value, other); \\
                    } \\
                    __syncthreads(); \\
                    if (lane == 0) warps[warp] = value; \\
                    __syncthreads(); \\
                    value = neutral; \\
                    for (int w = 0; w < (blockDim.x + 31) / 32; w++) \\
                        value = combined(value, warps[w]); \\
                    return value; \\
                }
            RT_FUNCTION float rt_add(float x, float y) { return x + y; }
            RT_BLOCK_FUNCTION(rt_block_sum, rt_add, 0.0f)
            RT_BLOCK_FUNCTION(rt_block_max, rt_max, -RT_INFINITY)

            """

    /// For the compiler of the machine: one thread computes all elements.
    package static let host = """
        #include <math.h>
        #include <string.h>
        #define RT_KERNEL(name, ...) void name(__VA_ARGS__)
        #define RT_EACH(i, count) for (long long i = 0; i < (count); i++)
        #define RT_BLOCKS(b, count) for (long long b = 0; b < (count); b++)
        #define RT_STRIDED(j, count) for (long long j = 0; j < (count); j++)
        // One thread adds what hundreds share on a GPU.
        typedef double rt_sum;
        #define RT_FIRST_THREAD
        #define RT_FUNCTION static inline
        #define RT_NAN __builtin_nanf("")
        #define RT_INFINITY __builtin_inff()
        RT_FUNCTION int rt_bits(float x) { int bits; memcpy(&bits, &x, 4); return bits; }
        RT_FUNCTION float rt_float(int bits) { float x; memcpy(&x, &bits, 4); return x; }
        // A block has one thread.
        RT_FUNCTION float rt_block_sum(rt_sum value) { return (float)value; }
        RT_FUNCTION float rt_block_max(float value) { return value; }

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
