// What retint and the library that speaks MPI for it (Scripts/mpi/retint_mpi.c) agree on.
//
// That library alone includes mpi.h: it is compiled by the machine's own mpicc and loaded at run
// time, so that one executable serves every MPI, and machines without one.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Raised with each change of `rt_mpi`; a library of another number is refused.
enum { RT_MPI_INTERFACE = 1 };

/// The functions of the library. All are called by one thread, in the order start, …, finish.
/// Those that return an int return 0, or the MPI error that `describe` explains.
typedef struct {
    int32_t interface;
    /// The implementation and its version in one line; may be called at any time.
    void (*version)(char *text, int capacity);
    /// Initializes MPI for a process whose other threads never call it.
    int (*start)(int *rank, int *size);
    /// Sends or receives bytes without waiting for it. Messages of the same sender, receiver and
    /// tag (0…32767) arrive in the order in which they were sent.
    int (*send)(const void *bytes, size_t count, int to, int tag, void **request);
    int (*receive)(void *bytes, size_t count, int from, int tag, void **request);
    /// Whether a message has been sent or received; the request is gone then.
    int (*test)(void *request, int *done);
    void (*describe)(int error, char *text, int capacity);
    /// Waits for all ranks and ends MPI.
    int (*finish)(void);
    /// Ends all ranks; the launcher returns the code.
    void (*abort)(int code);
} rt_mpi;

/// The one symbol of the library, of type `rt_mpi_functions`.
#define RT_MPI_SYMBOL "retint_mpi"
typedef const rt_mpi *(*rt_mpi_functions)(void);

// MARK: Sums (sums.c)

/// sum[i] += x[i].
void rt_ranks_add(float *sum, const float *x, size_t count);
/// Adds to each x what was lost of it before, rounds it to half precision, and keeps what is lost.
void rt_ranks_round(float *x, float *lost, size_t count);
/// Converts to IEEE half precision and back.
void rt_ranks_to_halves(uint16_t *halves, const float *x, size_t count);
void rt_ranks_from_halves(float *x, const uint16_t *halves, size_t count);
