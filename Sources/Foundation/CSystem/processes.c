#define _GNU_SOURCE

#include "CProcesses.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

const char *processes_own_file(void) {
    Dl_info information;
    return dladdr(&processes_own_file, &information) ? information.dli_fname : NULL;
}

pid_t processes_fork(void) { return fork(); }

void processes_exit(int status) { _exit(status); }

void processes_close_from(int first) { close_range((unsigned)first, ~0U, 0); }

static struct {
    int socket;
    unsigned char *message;
    size_t count;
    size_t position;
} report;

static void report_crash(int number) {
    report.message[report.position] = (unsigned char)number;
    processes_send(report.socket, report.message, report.count);
    _exit(128 + number);
}

void processes_report_crashes(int socket, unsigned char *message, size_t count, size_t position) {
    report.socket = socket;
    report.message = message;
    report.count = count;
    report.position = position;

    // A stack of its own: the crash may be the end of the usual one.
    stack_t stack = {.ss_size = 64 << 10};
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp) sigaltstack(&stack, NULL);

    struct sigaction action = {.sa_handler = report_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGXCPU};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], &action, NULL);
    }
}
