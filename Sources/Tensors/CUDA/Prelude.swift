/// What stands before the kernels: how a machine shares out elements and blocks, formats, and
/// functions that C does not have. It is one text in C++ for NVRTC, where a kernel runs on many
/// threads, and for the compiler of the machine, where one thread does all of it.
///
/// A block is a group of threads, a multiple of 32, that work on one thing. `RT_STRIDED` shares out
/// its elements, and all its threads get what `rt_block_sum` and `rt_block_max` combine of their
/// values. `RT_SEGMENTS` shares out blocks among pieces of work with memory of their own, and
/// `RT_PART` the elements of one. Or `RT_COLUMN` gives each of 32 threads a column, and `RT_ROWS`
/// shares out its rows among the groups of 32; what `rt_column_sum` and `rt_column_max` combine is
/// for the first group.
package enum Prelude {
    package static let text = """
        #ifdef __CUDACC__
        \(device)
        #else
        \(host)
        #endif
        \(functions)
        #ifdef __CUDACC__
        \(deviceFunctions)
        #endif

        """

    private static let device = """
        #define RT_KERNEL(threads, name, ...) \\
            extern "C" __global__ void __launch_bounds__(threads) name(__VA_ARGS__)
        #define RT_CALL(name, count, ...)
        #define RT_EACH(type, i, count) \\
            for (type i = blockIdx.x * (type)blockDim.x + threadIdx.x; \\
                 i < (count); i += gridDim.x * (type)blockDim.x)
        #define RT_BLOCKS(b, count) \\
            for (long long b = blockIdx.x; b < (count); b += gridDim.x)
        #define RT_STRIDED(j, count) for (long long j = threadIdx.x; j < (count); j += blockDim.x)
        #define RT_FIRST_THREAD if (threadIdx.x == 0)
        #define RT_SEGMENTS(s, table, count, width) \\
            for (const long long *s = rt_segment(table, count, width), *rt_end = s + 1; \\
                 s < rt_end; s = rt_end)
        #define RT_PART(type, i, s) \\
            for (type i = (type)(blockIdx.x - s[0]) * blockDim.x + threadIdx.x; i < (type)s[1]; \\
                 i = (type)s[1])
        #define RT_COLUMN(lane) \\
            for (unsigned lane = threadIdx.x % 32, rt_once = 0; rt_once < 1; rt_once++)
        #define RT_ROWS(r, begin, end) \\
            for (long long r = (begin) + threadIdx.x / 32; r < (end); r += blockDim.x / 32)
        #define RT_FIRST_ROW if (threadIdx.x < 32)
        typedef float rt_sum;
        #define RT_FUNCTION static __device__ __forceinline__
        #define RT_MEMBER __device__ __forceinline__
        #define RT_NAN __int_as_float(0x7fffffff)
        #define RT_INFINITY __int_as_float(0x7f800000)
        RT_FUNCTION int rt_bits(float x) { return __float_as_int(x); }
        RT_FUNCTION float rt_float(int bits) { return __int_as_float(bits); }
        // The last segment that begins at this block or before it.
        RT_FUNCTION const long long *rt_segment(const long long *table, int count, int width) {
            int low = 0, high = count;
            while (high - low > 1) {
                const int middle = (low + high) / 2;
                if (table[middle * width] <= blockIdx.x) low = middle;
                else high = middle;
            }
            return table + low * width;
        }
        """

    private static let host = """
        // The headers would take most of the time of compiling a kernel.
        extern "C" {
        float fabsf(float), sqrtf(float), expf(float), logf(float), erff(float), sinf(float);
        float cosf(float), atanf(float), tanhf(float), floorf(float), rintf(float);
        float powf(float, float), fmaxf(float, float);
        }
        #define RT_KERNEL(threads, name, ...) extern "C" void name(__VA_ARGS__)
        // What starts a kernel with an array of pointers to its arguments, and their number.
        #define RT_CALL(name, count, ...) \\
            extern "C" const int count_##name = count; \\
            extern "C" void call_##name(void ***p) { name(__VA_ARGS__); }
        #define RT_EACH(type, i, count) for (type i = 0; i < (count); i++)
        #define RT_BLOCKS(b, count) for (long long b = 0; b < (count); b++)
        #define RT_STRIDED(j, count) for (long long j = 0; j < (count); j++)
        #define RT_FIRST_THREAD
        #define RT_SEGMENTS(s, table, count, width) \\
            for (const long long *s = table; s < table + (count) * (width); s += width)
        #define RT_PART(type, i, s) for (type i = 0; i < (type)s[1]; i++)
        #define RT_COLUMN(lane) for (unsigned lane = 0; lane < 32; lane++)
        #define RT_ROWS(r, begin, end) for (long long r = (begin); r < (end); r++)
        #define RT_FIRST_ROW
        // One thread adds what hundreds share on a GPU.
        typedef double rt_sum;
        #define RT_FUNCTION static inline
        #define RT_NAN __builtin_nanf("")
        #define RT_INFINITY __builtin_inff()
        RT_FUNCTION int rt_bits(float x) { int bits; __builtin_memcpy(&bits, &x, 4); return bits; }
        RT_FUNCTION float rt_float(int bits) { float x; __builtin_memcpy(&x, &bits, 4); return x; }
        #define RT_MEMBER inline
        #define RT_UNROLL
        #define RT_LOAD(v, p) for (int rt_l = 0; rt_l < 4; rt_l++) (v)[rt_l] = (float)(p)[rt_l]
        #define RT_STORE(p, v) for (int rt_l = 0; rt_l < 4; rt_l++) (p)[rt_l] = (v)[rt_l]
        // A block has one thread.
        RT_FUNCTION float rt_block_sum(rt_sum value) { return (float)value; }
        RT_FUNCTION float rt_block_max(float value) { return value; }
        RT_FUNCTION float rt_column_sum(rt_sum value) { return (float)value; }
        RT_FUNCTION float rt_column_max(float value) { return value; }
        """

    private static let functions = """
        // Formats of memory, whose values are computed with in float32.
        struct rt_bfloat16 {
            unsigned short bits;
            RT_MEMBER operator float() const { return rt_float((int)bits << 16); }
            RT_MEMBER rt_bfloat16 &operator=(float x) {
        #if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
                asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
        #else
                const unsigned whole = (unsigned)rt_bits(x);
                const unsigned rounded = whole + 0x7fff + ((whole >> 16) & 1);
                bits = (unsigned short)((x != x ? whole | 0x400000 : rounded) >> 16);
        #endif
                return *this;
            }
        };
        struct rt_float16 {
            unsigned short bits;
            RT_MEMBER operator float() const {
        #ifdef __CUDACC__
                float x;
                asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
                return x;
        #else
                _Float16 x;
                __builtin_memcpy(&x, &bits, 2);
                return (float)x;
        #endif
            }
            RT_MEMBER rt_float16 &operator=(float x) {
        #ifdef __CUDACC__
                asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
        #else
                const _Float16 y = (_Float16)x;
                __builtin_memcpy(&bits, &y, 2);
        #endif
                return *this;
            }
        };

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

    private static let deviceFunctions = """
        // Four elements at once, at a place that is a multiple of four.
        #define RT_UNROLL _Pragma("unroll")
        RT_FUNCTION void rt_load(float *v, const float *p) {
            const float4 all = *(const float4 *)p;
            v[0] = all.x, v[1] = all.y, v[2] = all.z, v[3] = all.w;
        }
        RT_FUNCTION void rt_store(float *p, const float *v) {
            *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]);
        }
        template <typename Half> RT_FUNCTION void rt_load(float *v, const Half *p) {
            union { uint2 all; Half parts[4]; } four;
            four.all = *(const uint2 *)p;
            for (int l = 0; l < 4; l++) v[l] = four.parts[l];
        }
        template <typename Half> RT_FUNCTION void rt_store(Half *p, const float *v) {
            union { uint2 all; Half parts[4]; } four;
            for (int l = 0; l < 4; l++) four.parts[l] = v[l];
            *(uint2 *)p = four.all;
        }
        #define RT_LOAD(v, p) rt_load(v, p)
        #define RT_STORE(p, v) rt_store(p, v)
        // The threads of a warp, then the warps of a block: always in the same order.
        #define RT_BLOCK_FUNCTION(name, combined, neutral) \\
            RT_FUNCTION float name(float value) { \\
                __shared__ float warps[32]; \\
                const int warp = threadIdx.x / 32, lane = threadIdx.x % 32; \\
                for (int step = 16; step > 0; step /= 2) { \\
                    const float other = __shfl_xor_sync(0xffffffff, value, step); \\
                    value = combined(value, other); \\
                } \\
                if (blockDim.x <= 32) return value; \\
                __syncthreads(); \\
                if (lane == 0) warps[warp] = value; \\
                __syncthreads(); \\
                value = neutral; \\
                for (int w = 0; w < blockDim.x / 32; w++) \\
                    value = combined(value, warps[w]); \\
                return value; \\
            }
        // The rows of a column, which threads of the same lane have.
        #define RT_COLUMN_FUNCTION(name, combined) \\
            RT_FUNCTION float name(float value) { \\
                __shared__ float rows[1024]; \\
                __syncthreads(); \\
                rows[threadIdx.x] = value; \\
                __syncthreads(); \\
                if (threadIdx.x < 32) \\
                    for (int r = threadIdx.x + 32; r < blockDim.x; r += 32) \\
                        value = combined(value, rows[r]); \\
                return value; \\
            }
        RT_FUNCTION float rt_add(float x, float y) { return x + y; }
        RT_BLOCK_FUNCTION(rt_block_sum, rt_add, 0.0f)
        RT_BLOCK_FUNCTION(rt_block_max, rt_max, -RT_INFINITY)
        RT_COLUMN_FUNCTION(rt_column_sum, rt_add)
        RT_COLUMN_FUNCTION(rt_column_max, rt_max)
        """
}
