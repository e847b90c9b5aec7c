// The C interface of retint, for other languages.
//
// Everything that may take long is a call: a function starts it and returns its number at once,
// retint_wait waits for its end, and retint_result says how it ended. Calls run on threads of their
// own; all functions may be used by several threads. Numbers that name nothing are refused, not
// used. Texts are UTF-8, and those that are returned must be given to retint_free. In a process
// that was forked from one that had used the library, calls end with an error.
#ifndef RETINT_H
#define RETINT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The types of elements.
enum {
    RETINT_FLOAT32 = 0,
    RETINT_FLOAT64 = 1,
    RETINT_FLOAT16 = 2,
    RETINT_BFLOAT16 = 3,
    RETINT_INT64 = 4,
    RETINT_INT32 = 5,
    RETINT_INT16 = 6,
    RETINT_INT8 = 7,
    RETINT_UINT8 = 8,
    RETINT_BOOL = 9,
};

// A tensor in memory, borrowed for the duration of a function, or until the call that returned it
// is released.
typedef struct {
    const char *name;
    const void *data;
    int32_t type;
    // At most 8.
    int32_t rank;
    const int64_t *shape;
    // In bytes; NULL for C order without gaps.
    const int64_t *strides;
} retint_tensor;

// The version, such as "1.2.0"; not to be freed.
const char *retint_version(void);

// Runs the program retint with the arguments of the process; does not return.
__attribute__((noreturn)) void retint_main(void);

// Runs a command in this process: a JSON list of its arguments, such as
// ["inspect", "model.h5", "--json"]. The result has what it prints.
int64_t retint_command(const char *arguments);

// Opens a model: {"path": "model.mlpackage", "compute": "float32", "device": "cpu", "threads": 2,
// "style": "vivid", "form": "file"}, of which all but the path may be missing. The result has its
// interface. The call is the model: it may be run until it is released.
int64_t retint_model_open(const char *options);

// Lists the values that a model computes between its inputs and outputs: {"layers": [{"name": …,
// "operation": …, "module": …, "shape": […]}, …]}.
int64_t retint_model_layers(int64_t model);

// Runs a model on tensors, which are copied before this returns. The call has its outputs.
int64_t retint_model_run(int64_t model, const retint_tensor *inputs, int32_t count);

// Writes tensors to an HDF5 file by their names, which may have groups: inputs/lightness. They are
// copied before this returns.
int64_t retint_write(const char *path, const retint_tensor *tensors, int32_t count);

// Waits until a call has ended, at most so many milliseconds. Returns 1 if it has, 0 if not, and -1
// if there is no such call.
int32_t retint_wait(int64_t call, int32_t milliseconds);

// Asks a call to end early: a training, a coloring or an evaluation then fails with the status 130.
// Others end by themselves.
void retint_cancel(int64_t call);

// The messages of a command since the last time, as a JSON list of texts; NULL without such a call.
char *retint_messages(int64_t call);

// How a call ended: {"status": 0, …}, with "error", "file", "place" and "remedy" if it failed; NULL
// if it has not, or if there is no such call.
char *retint_result(int64_t call);

// An output of a call. Returns 1, or 0 if there is none of that index.
int32_t retint_output(int64_t call, int32_t index, retint_tensor *output);

// Releases a call with its outputs or its model; one that has not ended is cancelled.
void retint_release(int64_t call);

void retint_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
