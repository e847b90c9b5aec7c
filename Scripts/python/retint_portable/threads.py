"""The pool of threads."""

import numpy

# So many that workers both find the next task at once and wake up for it.
ROUNDS = 50


def pools(p):
    for threads in range(1, 5):
        p.call("rt_pool_create", threads)
        count = p.empty(1, dtype=numpy.int32)
        p.call("rt_pool_threads", count)
        p.result(f"rt_pool_threads {threads}", count, numpy.array([threads]))
        for pieces in (1, 2, 7):
            shares = threads * pieces
            counts = p.array(numpy.zeros((2, shares), numpy.int32))
            for _ in range(ROUNDS):
                p.call("rt_pool_run", pieces, counts)
            name = f"rt_pool_run {threads} threads, {pieces} pieces"
            p.result(name, counts, numpy.full(shares, ROUNDS), part=0)
            if pieces == 1:
                p.result(f"{name}: by which", counts, numpy.arange(threads), part=1)
        p.call("rt_pool_destroy")
    processors = p.empty(1, dtype=numpy.int32)
    p.call("rt_processor_count", processors)
    p.result("rt_processor_count", processors, numpy.array([1]), decode=lambda values: values > 0)
    p.call("rt_trim_heap")


AREAS = (pools,)
