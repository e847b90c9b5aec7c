#define _GNU_SOURCE

#include "CProcesses.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int processes_socket_pair(int sockets[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets);
}

int processes_send(int socket, const void *bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t sent = send(socket, rest, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return -1;
        rest += sent;
        count -= (size_t)sent;
    }
    return 0;
}

int processes_receive(int socket, void *bytes, size_t count) {
    char *rest = bytes;
    while (count > 0) {
        ssize_t received = recv(socket, rest, count, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) return (int)received;
        rest += received;
        count -= (size_t)received;
    }
    return 1;
}

enum { DESCRIPTOR_BYTES = 2 * sizeof(int) };

// Descriptors travel beside at least one byte.
struct packet {
    char byte;
    struct iovec part;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(DESCRIPTOR_BYTES)];
    } control;
};

static struct msghdr message_of(struct packet *packet) {
    *packet = (struct packet){.part = {&packet->byte, 1}};
    return (struct msghdr){
        .msg_iov = &packet->part,
        .msg_iovlen = 1,
        .msg_control = packet->control.bytes,
        .msg_controllen = sizeof packet->control.bytes,
    };
}

int processes_send_descriptors(int socket, const int descriptors[2]) {
    struct packet packet;
    struct msghdr message = message_of(&packet);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(DESCRIPTOR_BYTES);
    memcpy(CMSG_DATA(header), descriptors, DESCRIPTOR_BYTES);
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1 ? 0 : -1;
}

int processes_receive_descriptors(int socket, int descriptors[2]) {
    struct packet packet;
    struct msghdr message = message_of(&packet);
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received <= 0) return (int)received;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS
        || header->cmsg_len != CMSG_LEN(DESCRIPTOR_BYTES)) {
        errno = EBADMSG;
        return -1;
    }
    memcpy(descriptors, CMSG_DATA(header), DESCRIPTOR_BYTES);
    return 1;
}
