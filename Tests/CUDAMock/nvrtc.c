// libnvrtc: clang compiles the kernels for this machine.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock.h"

typedef struct {
    char *source, *log, *code;
    size_t bytes;
} program;

int nvrtcVersion(int *major, int *minor) {
    *major = 12;
    *minor = 9;
    return 0;
}
const char *nvrtcGetErrorString(int status) {
    return status == 6 ? "NVRTC_ERROR_COMPILATION" : "an error of the mock";
}
int nvrtcCreateProgram(program **p, const char *source, const char *name, int headers,
                       const char **h, const char **n) {
    (void)name, (void)headers, (void)h, (void)n;
    *p = calloc(1, sizeof **p);
    (*p)->source = strdup(source);
    (*p)->log = strdup("");
    return 0;
}
int nvrtcDestroyProgram(program **p) {
    free((*p)->source), free((*p)->log), free((*p)->code), free(*p);
    *p = NULL;
    return 0;
}

static char *contents(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    char *text = calloc(1, *bytes + 1);
    if (fread(text, 1, *bytes, file) != *bytes) *bytes = 0;
    fclose(file);
    return text;
}

int nvrtcCompileProgram(program *p, int count, const char *const *options) {
    (void)count, (void)options;
    char folder[] = "/tmp/retint-mock-XXXXXX", path[100], command[500];
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/k.cpp", folder);
    FILE *file = fopen(path, "w");
    fputs(p->source, file);
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && clang -O1 -w -fno-exceptions -shared -fPIC k.cpp -o k.so -lm 2>k.log",
             folder);
    int status = system(command);
    snprintf(path, sizeof path, "%s/k.log", folder);
    size_t length;
    free(p->log);
    p->log = contents(path, &length);
    snprintf(path, sizeof path, "%s/k.so", folder);
    if (status == 0) p->code = contents(path, &p->bytes);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) return 1;
    return status == 0 && p->code ? 0 : 6;
}
int nvrtcGetCUBINSize(program *p, size_t *bytes) {
    *bytes = p->bytes;
    return 0;
}
int nvrtcGetCUBIN(program *p, char *code) {
    memcpy(code, p->code, p->bytes);
    return 0;
}
int nvrtcGetProgramLogSize(program *p, size_t *bytes) {
    *bytes = strlen(p->log) + 1;
    return 0;
}
int nvrtcGetProgramLog(program *p, char *log) {
    strcpy(log, p->log);
    return 0;
}
