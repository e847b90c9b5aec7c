// What cuDNN asks of the driver when it plans for a GPU that is not there: all succeeds, and
// nothing is done.

#define ANSWER(name) \
    int name(void) { return 0; }
ANSWER(cuModuleUnload)
ANSWER(cuTensorMapEncodeIm2col)
ANSWER(cuTensorMapEncodeTiled)
