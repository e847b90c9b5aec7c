// What Swift's Glibc module leaves out of processes and sockets.

#pragma once

#include <stddef.h>
#include <sys/types.h>

/// The file that this code is in, a program or a library, by the name that it was loaded by; NULL
/// if that is unknown.
const char *processes_own_file(void);

/// `fork`, which Swift does not import. Only for a process that has no other threads.
pid_t processes_fork(void);

/// Closes all descriptors from `first` on.
void processes_close_from(int first);

/// A pair of connected stream sockets that are closed on exec. Returns 0, or -1 with errno set.
int processes_socket_pair(int sockets[2]);

/// Sends two open descriptors through a socket. Returns 0, or -1 with errno set.
int processes_send_descriptors(int socket, const int descriptors[2]);

/// Receives two descriptors. Returns 1, 0 at the end of the stream, or -1 with errno set.
int processes_receive_descriptors(int socket, int descriptors[2]);

/// Sends all bytes; the end of the other process is an error, not a signal. Returns 0, or -1 with
/// errno set.
int processes_send(int socket, const void *bytes, size_t count);

/// Receives exactly `count` bytes. Returns 1, 0 at the end of the stream, or -1 with errno set.
int processes_receive(int socket, void *bytes, size_t count);

/// Makes the signals of a crash, and of too much processor time, send `message`, whose byte at
/// `position` becomes the signal's number, through a socket and end the process.
///
/// `message` must stay in memory.
void processes_report_crashes(int socket, unsigned char *message, size_t count, size_t position);

/// Ends the process at once: nothing of the parent process is flushed or cleaned up.
_Noreturn void processes_exit(int status);
