#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "CKernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define RT_PAUSE() _mm_pause()
#else
#define RT_PAUSE() ((void)0)
#endif

// Workers wait for the next task by spinning for a short time, since the steps of a program follow
// each other closely, and then by sleeping.
enum { SPINS = 4000 };

typedef struct {
    rt_pool *pool;
    int thread;
} worker;

// The shares that a thread has not started: the first, and in the upper half the end. Each has its
// own cache line, and the adjacent one that is prefetched with it.
typedef struct {
    _Alignas(128) atomic_ullong shares;
} queue;

struct rt_pool {
    int threads;
    pthread_t *handles;
    worker *workers;
    queue *queues;
    rt_task task;
    void *context;
    int pieces;
    atomic_uint round;     // counts tasks; a worker runs when it changes
    atomic_int running;    // workers that have not finished this round
    atomic_int sleepers;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

// Takes a share from a queue: the first, or the last one if the queue is another thread's. -1 if it
// is empty.
static int take(queue *q, int isOwn) {
    unsigned long long shares = atomic_load_explicit(&q->shares, memory_order_relaxed), rest;
    unsigned begin, end;
    do {
        begin = (unsigned)shares, end = (unsigned)(shares >> 32);
        if (begin >= end) return -1;
        rest = isOwn ? shares + 1 : shares - (1ULL << 32);
    } while (!atomic_compare_exchange_weak_explicit(
        &q->shares, &shares, rest, memory_order_relaxed, memory_order_relaxed));
    return (int)(isOwn ? begin : end - 1);
}

static void run_shares(rt_pool *pool, int thread) {
    int threads = pool->threads;
    rt_part part = {thread, threads, thread, threads * pool->pieces, 0};
    if (pool->pieces == 1) {
        pool->task(pool->context, &part);
        return;
    }
    int last = -2;
    for (int i = 0; i < threads; i++) {
        queue *q = &pool->queues[(thread + i) % threads];
        while ((part.share = take(q, i == 0)) >= 0) {
            part.continues = part.share == last + 1;
            pool->task(pool->context, &part);
            last = part.share;
        }
    }
}

static void wait_for_round(rt_pool *pool, unsigned seen) {
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen) return;
        RT_PAUSE();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->round) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument) {
    worker *self = argument;
    rt_pool *pool = self->pool;
    for (unsigned seen = 0;;) {
        wait_for_round(pool, seen);
        seen++;
        if (atomic_load(&pool->stopping)) return NULL;
        run_shares(pool, self->thread);
        atomic_fetch_sub_explicit(&pool->running, 1, memory_order_release);
    }
}

static void start_round(rt_pool *pool) {
    atomic_store(&pool->running, pool->threads - 1);
    atomic_fetch_add(&pool->round, 1);
    if (atomic_load(&pool->sleepers) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
}

rt_pool *rt_pool_create(int threads) {
    rt_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->threads = 1;
    pool->handles = calloc((size_t)threads, sizeof *pool->handles);
    pool->workers = calloc((size_t)threads, sizeof *pool->workers);
    pool->queues = aligned_alloc(_Alignof(queue), (size_t)threads * sizeof *pool->queues);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    if (!pool->handles || !pool->workers || !pool->queues) {
        rt_pool_destroy(pool);
        return NULL;
    }
    for (int i = 1; i < threads; i++) {
        pool->workers[i] = (worker){pool, i};
        if (pthread_create(&pool->handles[i], NULL, work, &pool->workers[i])) break;
        pool->threads = i + 1;
    }
    return pool;
}

void rt_pool_destroy(rt_pool *pool) {
    atomic_store(&pool->stopping, 1);
    start_round(pool);
    for (int i = 1; i < pool->threads; i++) pthread_join(pool->handles[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->handles);
    free(pool->workers);
    free(pool->queues);
    free(pool);
}

int rt_pool_threads(const rt_pool *pool) { return pool->threads; }

void rt_pool_run(rt_pool *pool, int pieces, rt_task task, void *context) {
    pool->task = task;
    pool->context = context;
    pool->pieces = pieces;
    // The start of the round publishes this, and all workers have ended the one before.
    for (int i = 0; i < pool->threads && pieces > 1; i++) {
        unsigned long long begin = (unsigned)(i * pieces), end = (unsigned)((i + 1) * pieces);
        atomic_store_explicit(&pool->queues[i].shares, end << 32 | begin, memory_order_relaxed);
    }
    start_round(pool);
    run_shares(pool, 0);
    // A worker that lost its core may take long: yield rather than spin.
    for (int spins = 0; atomic_load_explicit(&pool->running, memory_order_acquire) > 0; spins++) {
        if (spins < SPINS) RT_PAUSE();
        else sched_yield();
    }
}

int rt_processor_count(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    return 1;
}
