// libcudnn and libcublasLt: convolutions and matrix products by their definitions, on operands that
// are described as the real libraries want them.

#include <stdlib.h>
#include <string.h>

#include "mock.h"

// MARK: Elements

// ROUNDED is float32 of which products take the first 10 bits of the fraction (TF32).
enum { FLOAT = 0, HALF = 2, BFLOAT16 = 9, ROUNDED = 100 };

static size_t element_bytes(int type) {
    if (type != FLOAT && type != HALF && type != BFLOAT16 && type != ROUNDED)
        mock_fail("format %d", type);
    return type == FLOAT || type == ROUNDED ? 4 : 2;
}

static double load(const void *memory, int64_t place, int type) {
    if (type == FLOAT) return ((const float *)memory)[place];
    if (type == ROUNDED) {
        float rounded;
        uint32_t all;
        memcpy(&all, (const char *)memory + 4 * place, 4);
        all = (all + 0xfff + ((all >> 13) & 1)) & ~0x1fffu;
        memcpy(&rounded, &all, 4);
        return rounded;
    }
    if (type == HALF) return ((const _Float16 *)memory)[place];
    uint32_t bits = (uint32_t)((const uint16_t *)memory)[place] << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static void store(void *memory, int64_t place, int type, double value) {
    if (type == FLOAT || type == ROUNDED) ((float *)memory)[place] = value;
    else if (type == HALF) ((_Float16 *)memory)[place] = (_Float16)(float)value;
    else {
        float single = value;
        uint32_t bits;
        memcpy(&bits, &single, 4);
        bits = single != single ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
        ((uint16_t *)memory)[place] = bits >> 16;
    }
}

// MARK: Descriptors of cuDNN

enum { MOST = 24 };

typedef struct {
    int name, type;
    int64_t count;
    char *bytes;
} attribute;

typedef struct descriptor {
    int kind, is_final, count;
    attribute attributes[MOST];
} descriptor;

typedef struct {
    void *stream;
} handle;

size_t cudnnGetVersion(void) {
    const char *wanted = getenv("RETINT_MOCK_CUDNN");
    return wanted ? atoi(wanted) : 91400;
}
const char *cudnnGetErrorString(int status) {
    return status == 3000 ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}
void cudnnGetLastErrorString(char *text, size_t bytes) {
    if (bytes > 0) text[0] = 0;
}
int cudnnCreate(void **h) {
    *h = calloc(1, sizeof(handle));
    return 0;
}
int cudnnSetStream(void *h, void *stream) {
    ((handle *)h)->stream = stream;
    return 0;
}

int cudnnBackendCreateDescriptor(int kind, void **d) {
    descriptor *made = calloc(1, sizeof *made);
    made->kind = kind;
    *d = made;
    return 0;
}

int cudnnBackendDestroyDescriptor(void *d) {
    descriptor *old = d;
    for (int i = 0; i < old->count; i++) free(old->attributes[i].bytes);
    memset(old, 0xee, sizeof *old);
    free(old);
    return 0;
}

static size_t type_bytes(int type) {
    switch (type) {
    case 1: case 4: case 7: case 8: case 11: return 4;
    case 24: return 1;
    default: return 8;
    }
}

static attribute *find(descriptor *d, int name) {
    for (int i = 0; i < d->count; i++)
        if (d->attributes[i].name == name) return &d->attributes[i];
    return NULL;
}

int cudnnBackendSetAttribute(void *pointer, int name, int type, int64_t count, const void *bytes) {
    descriptor *d = pointer;
    if (d->is_final || find(d, name) || d->count == MOST) return 2000;
    size_t length = count * type_bytes(type);
    attribute *a = &d->attributes[d->count++];
    *a = (attribute){name, type, count, malloc(length + 1)};
    memcpy(a->bytes, bytes, length);
    return 0;
}

int cudnnBackendFinalize(void *pointer) {
    descriptor *d = pointer;
    if (d->is_final) return 2000;
    d->is_final = 1;
    for (int i = 0; i < d->count; i++) {
        if (d->attributes[i].type != 15) continue;
        descriptor *part = *(descriptor **)d->attributes[i].bytes;
        if (!part->is_final) return 2000;
    }
    return 0;
}

static descriptor *part(descriptor *d, int name) {
    attribute *a = find(d, name);
    if (!a || a->type != 15) mock_fail("descriptor %d lacks attribute %d", d->kind, name);
    return *(descriptor **)a->bytes;
}

static const int64_t *integers(descriptor *d, int name, int64_t count) {
    attribute *a = find(d, name);
    if (!a || a->type != 3 || a->count != count)
        mock_fail("descriptor %d lacks attribute %d", d->kind, name);
    return (const int64_t *)a->bytes;
}

int cudnnBackendGetAttribute(void *pointer, int name, int type, int64_t wanted, int64_t *count,
                             void *bytes) {
    descriptor *d = pointer;
    if (!d->is_final && d->kind != 3) return 2000;
    *count = 1;
    if (d->kind == 4 && name == 202) {
        // Four engines, of which the first rounds operands and the last does not run, and whose
        // descriptors keep the graph; none to fall back on.
        *count = *(int *)find(d, 200)->bytes == 3 && wanted > 3 ? 4 : 0;
        for (int i = 0; i < *count; i++) {
            descriptor *configuration = ((descriptor **)bytes)[i], *graph = part(d, 201);
            int rounds = i == 0;
            cudnnBackendSetAttribute(configuration, -1, 15, 1, &graph);
            cudnnBackendSetAttribute(configuration, -2, 1, 1, &rounds);
            cudnnBackendSetAttribute(configuration, -3, 1, 1, &i);
            configuration->is_final = 1;
        }
    } else if (d->kind == 3 && name == 300) {
        descriptor *engine = ((descriptor **)bytes)[0];
        cudnnBackendSetAttribute(engine, -2, 1, 1, find(d, -2)->bytes);
        engine->is_final = 1;
    } else if (d->kind == 2 && name == 1303) {
        *count = *(int *)find(d, -2)->bytes && wanted > 1 ? 2 : 0;
        // Uses units for matrix products, and converts operands for them.
        for (int i = 0; i < *count; i++) ((int *)bytes)[i] = i;
    } else if (d->kind == 5 && name == 402) {
        *(int64_t *)bytes = 4096;
    } else {
        return 2000;
    }
    return type >= 0 ? 0 : 2000;
}

// MARK: Convolutions

typedef struct {
    char *memory;
    const int64_t *size, *stride;
    int type;
} tensor;

static tensor bound(descriptor *operation, int name, descriptor *pack) {
    descriptor *d = part(operation, name);
    tensor t = {.size = integers(d, 902, 4), .stride = integers(d, 903, 4)};
    t.type = *(int *)find(d, 901)->bytes;
    int64_t id = *integers(d, 906, 1), last = 0;
    for (int i = 0; i < 4; i++) {
        if (t.size[i] < 1) mock_fail("a tensor of size %ld", (long)t.size[i]);
        last += (t.size[i] - 1) * t.stride[i];
    }
    attribute *ids = find(pack, 1000), *pointers = find(pack, 1001);
    for (int i = 0; i < ids->count; i++)
        if (((int64_t *)ids->bytes)[i] == id) t.memory = ((char **)pointers->bytes)[i];
    if ((uint64_t)t.memory % *integers(d, 900, 1)) mock_fail("a tensor is not aligned");
    mock_require("a convolution", (uint64_t)t.memory, (last + 1) * element_bytes(t.type));
    return t;
}

static int64_t place(tensor t, int64_t n, int64_t c, int64_t y, int64_t x) {
    return n * t.stride[0] + c * t.stride[1] + y * t.stride[2] + x * t.stride[3];
}

typedef struct {
    tensor x, w, y;
    const int64_t *dilation, *stride, *before;
    int64_t groups;
} convolution;

// Sums of products, one for each element of the result: of x at (n, channel, v, u), of w at
// (k, channel of its group, r, s), and of y at (n, k, h, o).
static void compute(convolution c, int direction) {
    int64_t inputs = c.w.size[1], outputs = c.w.size[0] / c.groups;
    tensor to = direction == 10 ? c.y : direction == 12 ? c.x : c.w;
    int64_t count = to.size[0] * to.size[1] * to.size[2] * to.size[3];
    double *sums = calloc(count, sizeof *sums);
    for (int64_t n = 0; n < c.y.size[0]; n++)
        for (int64_t k = 0; k < c.y.size[1]; k++)
            for (int64_t h = 0; h < c.y.size[2]; h++)
                for (int64_t o = 0; o < c.y.size[3]; o++)
                    for (int64_t r = 0; r < c.w.size[2]; r++)
                        for (int64_t s = 0; s < c.w.size[3]; s++) {
                            int64_t v = h * c.stride[0] - c.before[0] + r * c.dilation[0];
                            int64_t u = o * c.stride[1] - c.before[1] + s * c.dilation[1];
                            if (v < 0 || v >= c.x.size[2] || u < 0 || u >= c.x.size[3]) continue;
                            int64_t group = k / outputs;
                            int64_t iy = place(c.y, n, k, h, o), iw = place(c.w, k, 0, r, s);
                            int64_t ix = place(c.x, n, group * inputs, v, u);
                            double dy = direction == 10 ? 0 : load(c.y.memory, iy, c.y.type);
                            double sum = 0;
                            for (int64_t i = 0; i < inputs; i++, ix += c.x.stride[1],
                                         iw += c.w.stride[1]) {
                                if (direction == 10)
                                    sum += load(c.x.memory, ix, c.x.type) *
                                           load(c.w.memory, iw, c.w.type);
                                else if (direction == 12)
                                    sums[ix] += dy * load(c.w.memory, iw, c.w.type);
                                else
                                    sums[iw] += dy * load(c.x.memory, ix, c.x.type);
                            }
                            if (direction == 10) sums[iy] += sum;
                        }
    // The layouts are dense: places are those of the memory.
    for (int64_t i = 0; i < count; i++) store(to.memory, i, to.type, sums[i]);
    free(sums);
}

typedef struct {
    descriptor *plan, *pack;
} execution;

static void run_convolution(void *context) {
    execution *e = context;
    descriptor *graph = part(part(e->plan, 401), -1), *operation = part(graph, 801);
    int kind = operation->kind;
    static const int names[3][4] = {
        {704, 703, 705, 702}, {716, 715, 717, 714}, {710, 709, 711, 708}};
    const int *name = names[kind - 10];
    convolution c = {.x = bound(operation, name[0], e->pack),
                     .w = bound(operation, name[1], e->pack),
                     .y = bound(operation, name[2], e->pack)};
    // Of formats with 16 bits, no operand is rounded.
    if (*(int *)find(part(e->plan, 401), -2)->bytes && c.x.type == FLOAT)
        c.x.type = c.w.type = c.y.type = ROUNDED;
    descriptor *window = part(operation, name[3]);
    c.dilation = integers(window, 102, 2);
    c.stride = integers(window, 103, 2);
    c.before = integers(window, 105, 2);
    const int64_t *after = integers(window, 104, 2);
    c.groups = c.x.size[1] / c.w.size[1];
    for (int i = 0; i < 2; i++) {
        int64_t span = c.dilation[i] * (c.w.size[2 + i] - 1) + 1;
        int64_t free = c.x.size[2 + i] + c.before[i] + after[i] - span;
        if (free < 0 || free / c.stride[i] + 1 != c.y.size[2 + i])
            mock_fail("a convolution has %ld positions", (long)c.y.size[2 + i]);
    }
    // A library may write its workspace while it computes.
    uint64_t workspace = *(uint64_t *)find(e->pack, 1003)->bytes;
    mock_require("a convolution", workspace, 4096);
    memset((void *)workspace, 0xff, 4096);
    // The third engine is the fastest that runs.
    mock_spend(3 - *(int *)find(part(e->plan, 401), -3)->bytes);
    compute(c, kind == 10 ? 10 : kind == 11 ? 11 : 12);
}

int cudnnBackendExecute(void *h, void *plan, void *pack) {
    if (!((descriptor *)plan)->is_final || !((descriptor *)pack)->is_final) return 2000;
    if (*(int *)find(part(plan, 401), -3)->bytes == 3) return 3000;
    execution *e = malloc(sizeof *e);
    *e = (execution){plan, pack};
    mock_enqueue(((handle *)h)->stream, run_convolution, free, e);
    return 0;
}

// MARK: Matrix products of cuBLASLt

typedef struct {
    int type;
    uint64_t rows, columns;
    int64_t leading;
    int32_t batch;
    int64_t batch_stride;
} layout;

typedef struct {
    int transposes_a, transposes_b, rounds;
} product;

int cublasLtCreate(void **h) {
    *h = malloc(1);
    return 0;
}
int cublasLtMatrixLayoutCreate(void **l, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
    layout *made = calloc(1, sizeof *made);
    *made = (layout){type == 0 ? FLOAT : type == 2 ? HALF : BFLOAT16, rows, columns, leading, 1, 0};
    if (leading < (int64_t)rows) return 7;
    *l = made;
    return 0;
}
int cublasLtMatrixLayoutSetAttribute(void *l, int name, const void *value, size_t bytes) {
    layout *target = l;
    if (name == 5 && bytes == 4) target->batch = *(const int32_t *)value;
    else if (name == 6 && bytes == 8) target->batch_stride = *(const int64_t *)value;
    else return 7;
    return 0;
}
int cublasLtMatmulDescCreate(void **p, int compute, int scale) {
    product *made = calloc(1, sizeof *made);
    made->rounds = compute == 77;
    *p = made;
    return (compute == 68 || compute == 77) && scale == 0 ? 0 : 7;
}
int cublasLtMatmulDescSetAttribute(void *p, int name, const void *value, size_t bytes) {
    product *target = p;
    if (bytes != 4) return 7;
    if (name == 3) target->transposes_a = *(const int32_t *)value;
    else if (name == 4) target->transposes_b = *(const int32_t *)value;
    else return 7;
    return 0;
}
int cublasLtMatmulPreferenceCreate(void **p) {
    *p = malloc(1);
    return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void *p, int name, const void *value, size_t bytes) {
    return p && value && (name == 1 ? bytes == 8 : name >= 5 && name <= 8 && bytes == 4) ? 0 : 7;
}
int cublasLtMatmulPreferenceDestroy(void *p) {
    free(p);
    return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void *h, void *p, void *a, void *b, void *c, void *d,
                                   void *preference, int wanted, void *results, int *count) {
    (void)h, (void)p, (void)a, (void)b, (void)c, (void)d, (void)preference;
    memset(results, 0, 96);
    ((uint64_t *)results)[8] = 2048;
    *count = wanted > 0;
    return 0;
}

typedef struct {
    product p;
    layout la, lb, ld;
    char *a, *b, *d;
    uint64_t workspace;
} multiplication;

static double element(const layout *l, const char *memory, int transposes, int64_t row,
                      int64_t column, int64_t index) {
    int64_t r = transposes ? column : row, c = transposes ? row : column;
    return load(memory, index * l->batch_stride + c * l->leading + r, l->type);
}

static void require(const layout *l, const char *memory) {
    int64_t last = (l->batch - 1) * l->batch_stride + (l->columns - 1) * l->leading + l->rows;
    mock_require("a product", (uint64_t)memory, last * element_bytes(l->type));
}

static void run_multiplication(void *context) {
    multiplication *m = context;
    require(&m->la, m->a), require(&m->lb, m->b), require(&m->ld, m->d);
    mock_require("a product", m->workspace, 2048);
    memset((void *)m->workspace, 0xff, 2048);
    if (m->p.rounds && m->la.type == FLOAT) m->la.type = m->lb.type = ROUNDED;
    int64_t inner = m->p.transposes_a ? m->la.rows : m->la.columns;
    if (inner != (int64_t)(m->p.transposes_b ? m->lb.columns : m->lb.rows))
        mock_fail("a product of matrices that do not fit");
    for (int64_t i = 0; i < m->ld.batch; i++)
        for (int64_t r = 0; r < (int64_t)m->ld.rows; r++)
            for (int64_t c = 0; c < (int64_t)m->ld.columns; c++) {
                double sum = 0;
                for (int64_t k = 0; k < inner; k++)
                    sum += element(&m->la, m->a, m->p.transposes_a, r, k, i) *
                           element(&m->lb, m->b, m->p.transposes_b, k, c, i);
                store(m->d, i * m->ld.batch_stride + c * m->ld.leading + r, m->ld.type, sum);
            }
}

int cublasLtMatmul(void *h, void *p, const float *alpha, void *a, void *la, void *b, void *lb,
                   const float *beta, void *c, void *lc, void *d, void *ld, const void *algorithm,
                   void *workspace, size_t bytes, void *stream) {
    if (!h || *alpha != 1 || *beta != 0 || c != d || lc != ld || !algorithm || bytes < 2048)
        return 7;
    multiplication *m = malloc(sizeof *m);
    *m = (multiplication){*(product *)p, *(layout *)la, *(layout *)lb, *(layout *)ld,
                          a, b, d, (uint64_t)workspace};
    mock_enqueue(stream, run_multiplication, free, m);
    return 0;
}
