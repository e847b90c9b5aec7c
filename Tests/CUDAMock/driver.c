// libcuda: one GPU, whose memory is this machine's and whose stream runs when it is waited for.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mock.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

_Noreturn void mock_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("CUDA mock: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

// A call that tests let fail.
static int fails(const char *name) {
    const char *wanted = getenv("RETINT_MOCK_FAIL");
    return wanted && strcmp(wanted, name) == 0;
}

// MARK: Memory

typedef struct {
    uint64_t address;
    size_t bytes;
    int is_free;
} allocation;

static allocation *allocations;
static size_t allocation_count;
static size_t allocated;

// In MiB; by default 4 GiB.
static size_t memory_size(void) {
    const char *wanted = getenv("RETINT_MOCK_MEMORY");
    return (size_t)(wanted ? atoi(wanted) : 4096) << 20;
}

// Whether the calling thread has a GPU.
static _Thread_local int has_context;

static void remember(uint64_t address, size_t bytes) {
    allocations = realloc(allocations, (allocation_count + 1) * sizeof *allocations);
    allocations[allocation_count++] = (allocation){address, bytes, 0};
}

static allocation *find(uint64_t address) {
    allocation *freed = NULL;
    for (size_t i = allocation_count; i-- > 0;) {
        allocation *a = &allocations[i];
        if (address < a->address || address >= a->address + a->bytes) continue;
        if (!a->is_free) return a;
        if (!freed) freed = a;
    }
    return freed;
}

size_t mock_require(const char *what, uint64_t address, size_t bytes) {
    pthread_mutex_lock(&lock);
    allocation *a = find(address);
    if (!a) mock_fail("%s uses %#lx, which is not memory of the GPU", what, (long)address);
    if (a->is_free) mock_fail("%s uses %#lx, which was freed", what, (long)address);
    size_t left = a->address + a->bytes - address;
    pthread_mutex_unlock(&lock);
    if (bytes > left)
        mock_fail("%s uses %zu bytes at %#lx, %zu too many", what, bytes, (long)address,
                  bytes - left);
    return left;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    if (fails(__func__)) return 2;
    pthread_mutex_lock(&lock);
    int fits = allocated + bytes <= memory_size();
    if (fits) allocated += bytes;
    pthread_mutex_unlock(&lock);
    if (!fits) return 2;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 2;
    // NaN everywhere: what is read before it is written shows.
    memset(memory, 0xff, bytes);
    *address = (uint64_t)memory;
    pthread_mutex_lock(&lock);
    remember(*address, bytes);
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuMemFree_v2(uint64_t address) {
    pthread_mutex_lock(&lock);
    allocation *a = find(address);
    if (!a || a->is_free || a->address != address)
        mock_fail("%#lx is freed, which is not an allocation", (long)address);
    a->is_free = 1;
    allocated -= a->bytes;
    munmap((void *)a->address, a->bytes);
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
    if (!has_context) return 201;
    *total = memory_size();
    *available = *total > allocated ? *total - allocated : 0;
    return 0;
}

typedef struct pinned {
    char *start;
    size_t bytes;
    struct pinned *next;
} pinned;
static pinned *all_pinned;

int cuMemAllocHost_v2(void **pointer, size_t bytes) {
    *pointer = aligned_alloc(64, (bytes + 63) / 64 * 64);
    pinned *p = malloc(sizeof *p);
    pthread_mutex_lock(&lock);
    *p = (pinned){*pointer, bytes, all_pinned};
    all_pinned = p;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuMemFreeHost(void *pointer) {
    pthread_mutex_lock(&lock);
    for (pinned **p = &all_pinned; *p; p = &(*p)->next) {
        if ((*p)->start != pointer) continue;
        pinned *old = *p;
        *p = old->next;
        free(old);
        break;
    }
    pthread_mutex_unlock(&lock);
    free(pointer);
    return 0;
}

static int is_pinned(const void *pointer) {
    int found = 0;
    pthread_mutex_lock(&lock);
    for (pinned *p = all_pinned; p; p = p->next)
        found |= (const char *)pointer >= p->start && (const char *)pointer < p->start + p->bytes;
    pthread_mutex_unlock(&lock);
    return found;
}

// MARK: Streams

typedef struct {
    mock_work *work;
    size_t count;
} list;

typedef struct {
    list queue;
    /// What is recorded, if anything is.
    list *recorded;
} stream;

static void append(list *l, mock_work w) {
    l->work = realloc(l->work, (l->count + 1) * sizeof *l->work);
    l->work[l->count++] = w;
}

static void drop(mock_work *w) {
    if (--*w->owners > 0) return;
    w->free(w->context);
    free(w->owners);
}

void mock_enqueue(void *s, void (*run)(void *), void (*free)(void *), void *context) {
    stream *target = s;
    int *owners = malloc(sizeof *owners);
    *owners = 1;
    append(target->recorded ? target->recorded : &target->queue,
           (mock_work){run, free, context, owners});
}

int cuStreamCreate(void **s, unsigned flags) {
    (void)flags;
    *s = calloc(1, sizeof(stream));
    return 0;
}

// Time passes only while work runs, on the thread that waits for it.
static _Thread_local double milliseconds_passed;
void mock_spend(double milliseconds) { milliseconds_passed += milliseconds; }

int cuStreamSynchronize(void *s) {
    if (fails(__func__)) return 700;
    stream *target = s;
    if (target->recorded) return 900;
    for (size_t i = 0; i < target->queue.count; i++) {
        mock_spend(1);
        target->queue.work[i].run(target->queue.work[i].context);
        drop(&target->queue.work[i]);
    }
    target->queue.count = 0;
    return 0;
}

int cuStreamBeginCapture_v2(void *s, int mode) {
    (void)mode;
    stream *target = s;
    if (target->recorded) return 901;
    target->recorded = calloc(1, sizeof(list));
    return 0;
}

int cuStreamEndCapture(void *s, void **graph) {
    stream *target = s;
    *graph = target->recorded;
    target->recorded = NULL;
    return *graph ? 0 : 901;
}

static list *copied(const list *l) {
    list *copy = calloc(1, sizeof *copy);
    for (size_t i = 0; i < l->count; i++) {
        append(copy, l->work[i]);
        ++*l->work[i].owners;
    }
    return copy;
}

static int destroy(list *l) {
    for (size_t i = 0; i < l->count; i++) drop(&l->work[i]);
    free(l->work);
    free(l);
    return 0;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags) {
    (void)flags;
    *executable = copied(graph);
    return 0;
}

int cuGraphLaunch(void *executable, void *s) {
    stream *target = s;
    const list *l = executable;
    for (size_t i = 0; i < l->count; i++) {
        append(&target->queue, l->work[i]);
        ++*l->work[i].owners;
    }
    return 0;
}

int cuGraphExecDestroy(void *executable) { return destroy(executable); }
int cuGraphDestroy(void *graph) { return destroy(graph); }

int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(double));
    return 0;
}
static void note_time(void *event) { *(double *)event = milliseconds_passed; }
static void keep(void *event) { (void)event; }
int cuEventRecord(void *event, void *s) {
    mock_enqueue(s, note_time, keep, event);
    return 0;
}
int cuEventElapsedTime(float *milliseconds, void *a, void *b) {
    *milliseconds = *(double *)b - *(double *)a;
    return 0;
}
int cuEventDestroy_v2(void *event) {
    free(event);
    return 0;
}

// MARK: Copies

typedef struct {
    uint64_t target, source;
    size_t bytes;
    int writes_host, reads_host, value;
    /// A copy of memory that is not pinned, which the driver reads at once.
    void *staged;
} copy;

static void run_copy(void *context) {
    copy *c = context;
    if (!c->writes_host) mock_require("a copy", c->target, c->bytes);
    if (!c->reads_host) mock_require("a copy", c->source, c->bytes);
    memmove((void *)c->target, c->staged ? c->staged : (void *)c->source, c->bytes);
}

static void free_copy(void *context) {
    free(((copy *)context)->staged);
    free(context);
}

static int enqueue_copy(copy c, void *s) {
    if (c.bytes == 0) return 0;
    copy *context = malloc(sizeof c);
    *context = c;
    mock_enqueue(s, run_copy, free_copy, context);
    return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, void *s) {
    mock_require("a copy", target, bytes);
    void *staged = NULL;
    if (!is_pinned(source)) {
        staged = malloc(bytes);
        memcpy(staged, source, bytes);
    }
    return enqueue_copy((copy){target, (uint64_t)source, bytes, 0, 1, 0, staged}, s);
}

int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *s) {
    mock_require("a copy", source, bytes);
    return enqueue_copy((copy){(uint64_t)target, source, bytes, 1, 0, 0, NULL}, s);
}

int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void *s) {
    mock_require("a copy", target, bytes);
    mock_require("a copy", source, bytes);
    return enqueue_copy((copy){target, source, bytes, 0, 0, 0, NULL}, s);
}

static void run_fill(void *context) {
    copy *c = context;
    mock_require("a fill", c->target, c->bytes);
    memset((void *)c->target, c->value, c->bytes);
}

int cuMemsetD8Async(uint64_t target, unsigned char value, size_t bytes, void *s) {
    copy *c = malloc(sizeof *c);
    *c = (copy){target, 0, bytes, 0, 0, value, NULL};
    mock_enqueue(s, run_fill, free_copy, c);
    return 0;
}

// MARK: Kernels

static size_t elf_bytes(const void *image) {
    const Elf64_Ehdr *header = image;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
    return header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
}

int cuModuleLoadData(void **module, const void *image) {
    size_t bytes = elf_bytes(image);
    if (bytes == 0) return 200;
    // Every module has a name of its own: libraries of the same name are loaded once.
    char path[] = "/tmp/retint-mock-module-XXXXXX";
    int file = mkstemp(path);
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(file, (const char *)image + done, bytes - done);
        if (n <= 0) return 200;
        done += n;
    }
    close(file);
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    return *module ? 0 : 200;
}

typedef struct {
    void (*call)(void ***);
    int parameters;
    char name[200];
} function;

int cuModuleGetFunction(void **result, void *module, const char *name) {
    char symbol[256];
    function *f = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(symbol, sizeof symbol, "call_%s", name);
    f->call = (void (*)(void ***))dlsym(module, symbol);
    snprintf(symbol, sizeof symbol, "count_%s", name);
    const int *count = dlsym(module, symbol);
    if (!f->call || !count) return 500;
    f->parameters = *count;
    *result = f;
    return 0;
}

typedef struct {
    const function *f;
    uint64_t values[];
} launch;

static void run_launch(void *context) {
    launch *l = context;
    void **pointers[l->f->parameters + 1];
    for (int i = 0; i < l->f->parameters; i++) {
        mock_require(l->f->name, l->values[i], 1);
        pointers[i] = (void **)&l->values[i];
    }
    l->f->call(pointers);
}

int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty,
                   unsigned tz, unsigned shared, void *s, void **parameters, void **extra) {
    if (x == 0 || y != 1 || z != 1 || threads == 0 || threads > 1024 || threads % 32 || ty != 1 ||
        tz != 1 || shared || extra)
        return 1;
    if (fails(__func__)) return 700;
    const function *called = f;
    launch *l = malloc(sizeof *l + called->parameters * sizeof *l->values);
    l->f = called;
    for (int i = 0; i < called->parameters; i++) l->values[i] = *(uint64_t *)parameters[i];
    mock_enqueue(s, run_launch, free, l);
    return 0;
}

// MARK: The device

int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *version) {
    const char *wanted = getenv("RETINT_MOCK_DRIVER");
    *version = wanted ? atoi(wanted) : 12090;
    return 0;
}
int cuDeviceGetCount(int *count) {
    const char *wanted = getenv("RETINT_MOCK_GPUS");
    *count = wanted ? atoi(wanted) : 1;
    return 0;
}
int cuDeviceGet(int *device, int index) {
    *device = index;
    return 0;
}
int cuDeviceGetName(char *name, int length, int device) {
    (void)device;
    snprintf(name, length, "a mock of a GPU");
    return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    *bytes = memory_size();
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    const char *wanted = getenv("RETINT_MOCK_CAPABILITY");
    int capability = wanted ? atoi(wanted) : 90;
    *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 4;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    *context = &lock;
    return 0;
}
int cuCtxSetCurrent(void *context) {
    has_context = context == &lock;
    return has_context ? 0 : 201;
}

int cuGetErrorName(int status, const char **text) {
    *text = status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
    return 0;
}
int cuGetErrorString(int status, const char **text) {
    *text = status == 2 ? "out of memory" : "an error of the mock";
    return 0;
}
