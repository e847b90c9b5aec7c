// Speaks MPI for retint: the functions of Sources/Tensors/CDistributed/include/CRanks.h.
//
// Scripts/setup --mpi compiles it with the machine's own mpicc to .build/mpi/libretint-mpi.so. What
// a collective operation is made of stands in Sources/Tensors/Distributed, so that its sums have
// the same order with every MPI; here are only messages between two ranks.
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CRanks.h"

// A communicator of its own: a library that also uses MPI cannot take its messages.
static MPI_Comm ranks = MPI_COMM_NULL;

static void version(char *text, int capacity) {
    char line[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, major = 0, minor = 0;
    MPI_Get_library_version(line, &length);
    MPI_Get_version(&major, &minor);
    line[strcspn(line, ",\n")] = 0;
    snprintf(text, (size_t)capacity, "%s (MPI %d.%d)", line, major, minor);
}

static int start(int *rank, int *size) {
    int provided;
    int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (error) return error;
    if (provided < MPI_THREAD_FUNNELED) return MPI_ERR_OTHER;
    if ((error = MPI_Comm_dup(MPI_COMM_WORLD, &ranks))) return error;
    MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
    if ((error = MPI_Comm_rank(ranks, rank))) return error;
    return MPI_Comm_size(ranks, size);
}

static int begin(MPI_Request **request, size_t count) {
    if (count > INT_MAX) return MPI_ERR_COUNT;
    *request = malloc(sizeof **request);
    return *request ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int send(const void *bytes, size_t count, int to, int tag, void **request) {
    MPI_Request *new;
    int error = begin(&new, count);
    if (error) return error;
    *request = new;
    return MPI_Isend(bytes, (int)count, MPI_BYTE, to, tag, ranks, new);
}

static int receive(void *bytes, size_t count, int from, int tag, void **request) {
    MPI_Request *new;
    int error = begin(&new, count);
    if (error) return error;
    *request = new;
    return MPI_Irecv(bytes, (int)count, MPI_BYTE, from, tag, ranks, new);
}

static int test(void *request, int *done) {
    int error = MPI_Test(request, done, MPI_STATUS_IGNORE);
    if (error || *done) free(request);
    return error;
}

static void describe(int error, char *text, int capacity) {
    char line[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(error, line, &length);
    snprintf(text, (size_t)capacity, "%s", line);
}

static int finish(void) {
    MPI_Comm_free(&ranks);
    return MPI_Finalize();
}

static void end(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

__attribute__((visibility("default"))) const rt_mpi *retint_mpi(void) {
    static const rt_mpi functions = {
        RT_MPI_INTERFACE, version, start, send, receive, test, describe, finish, end,
    };
    return &functions;
}
