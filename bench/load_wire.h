/* What the load generator needs of the system: clocks, dice, and frames of a WebSocket's client. Open load.c first. */
#ifndef LOAD_WIRE_H
#define LOAD_WIRE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define OUT_BYTES_MAX 4096

static uint64_t random_state;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double own_cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void fail(const char *why) {
    fprintf(stderr, "load: %s (errno %d: %s)\n", why, errno, strerror(errno));
    exit(1);
}

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static const char *find(const char *text, size_t length, const char *wanted) {
    return memmem(text, length, wanted, strlen(wanted));
}

static void write_all(int fd, const char *bytes, size_t length) {
    /* What we send is far below a socket's buffer: a short write means that nobody reads any more. */
    if (write(fd, bytes, length) != (ssize_t)length) fail("a socket takes nothing more");
}

static void send_frame(int fd, int opcode, const char *payload, size_t length) {
    unsigned char out[OUT_BYTES_MAX + 14], *p = out;
    if (length > OUT_BYTES_MAX) fail("message too long");
    *p++ = (unsigned char)(0x80 | opcode);
    if (length < 126) {
        *p++ = (unsigned char)(0x80 | length);
    } else {
        *p++ = 0x80 | 126;
        *p++ = (unsigned char)(length >> 8);
        *p++ = (unsigned char)length;
    }
    uint64_t bits = random_bits();
    unsigned char mask[4];
    memcpy(mask, &bits, 4);
    memcpy(p, mask, 4);
    p += 4;
    for (size_t i = 0; i < length; i++) *p++ = (unsigned char)payload[i] ^ mask[i & 3];
    write_all(fd, (char *)out, (size_t)(p - out));
}

#endif
