/* The load generator: 4 sockets a table, whoever may decide answers at once. Open this about a saturation row.
 *
 *     load PLAN WARM_SECONDS WINDOW_SECONDS MOVES_A_SECOND
 *
 * PLAN has one line a socket, four lines a table: port, path, hello, opening, separated by tabs. A socket with a hello
 * says it, sits down if it has no seat, and is ready when it sits. One without is ready at once; its opening, if it has
 * one, is the first move. The hello "colyseus" says that a room of Colyseus is there (load_colyseus.h). When all are ready, play begins: in a closed loop where MOVES_A_SECOND is 0, else so many
 * moves in all, by whoever of those that may decide is drawn. "window" is printed when the window begins, and one JSON
 * line with the figures when it ends; it stays until its input is closed. One thread, epoll; every move of a table is
 * counted when the last of its four sockets has it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "load_wire.h"

#define SEATS 4
#define TABLES_MAX 4096
#define IN_BYTES_MAX 65536
#define RING 64 /* a table has one move under way; the ring only spans sockets that are read later */
#define LATENCIES_MAX 8000000
#define READY_SECONDS_MAX 60.0
#define QUIET_SECONDS_MAX 10.0

enum { UPGRADING, GREETING, SITTING, READY };

struct socket_state {
    int fd, table, state;
    bool may_play;         /* the last frame with a choice is not answered yet */
    bool waits;            /* for a move to be due */
    bool is_colyseus;
    int seat, held, led;   /* in a room of Colyseus, with the cards of the hand */
    char hand[16];
    long round, turn;      /* where the game stands, as this socket knows it */
    long answered_round, answered_turn;
    char choice[8], choice_kind;
    uint32_t moves_seen;
    size_t have;
    char *in, *hello, *opening;
    char sit_id[32];
};

static struct socket_state sockets[TABLES_MAX * SEATS];
static uint32_t moves_sent[TABLES_MAX];
static double sent_at[TABLES_MAX][RING];
static uint8_t got[TABLES_MAX][RING];
static uint32_t *latencies;
static int socket_count, ready_count, epoll_fd;
static bool running, measuring;
static uint64_t moves, acknowledged, frames, move_frame_bytes, refused_count, closed_count, latency_count, id_count;
static uint64_t id_base;
static double last_move_at, moves_a_second;
static struct socket_state *waiting[TABLES_MAX * SEATS];
static int waiting_count, timer_fd;
static uint64_t due; /* moves that should have been made by now */
static char first_refusal[256];

static void new_id(char *id) { sprintf(id, "load%012llx", (unsigned long long)((id_base + ++id_count) & 0xffffffffffffULL)); }

static void send_move(struct socket_state *s, const char *text, size_t length) {
    uint32_t place = moves_sent[s->table]++ % RING;
    sent_at[s->table][place] = now();
    got[s->table][place] = 0;
    send_frame(s->fd, s->is_colyseus ? 2 : 1, text, length);
}

static bool answer(struct socket_state *s) {
    char id[32], text[256];
    if (!s->may_play) return false;
    s->may_play = false;
    if (s->round == s->answered_round && s->turn == s->answered_turn) return false;
    s->answered_round = s->round;
    s->answered_turn = s->turn;
    new_id(id);
    int length = snprintf(text, sizeof text, "{\"type\":\"%s\",\"id\":\"%s\",\"round\":%ld,\"turn\":%ld,\"card\":\"%s\"}",
                          s->choice_kind == 'n' ? "choose_trump" : "play_card", id, s->round, s->turn, s->choice);
    send_move(s, text, (size_t)length);
    return true;
}

/* Those drawn here keep tables from playing in step. */
static void make_due_moves(void) {
    while (due && waiting_count) {
        struct socket_state **drawn = &waiting[random_bits() % (uint64_t)waiting_count], *s = *drawn;
        *drawn = waiting[--waiting_count];
        s->waits = false;
        if (s->fd >= 0 && answer(s)) due--;
    }
}

static void may_answer(struct socket_state *s) {
    if (moves_a_second == 0) {
        answer(s);
    } else if (!s->waits) {
        s->waits = true;
        waiting[waiting_count++] = s;
        make_due_moves();
    }
}

static void send_simple(struct socket_state *s, const char *type, char *id) {
    char text[128];
    new_id(id);
    int length = snprintf(text, sizeof text, "{\"type\":\"%s\",\"id\":\"%s\"}", type, id);
    send_frame(s->fd, 1, text, (size_t)length);
}

static void number_after(const char *text, size_t length, const char *key, long *value) {
    const char *at = find(text, length, key);
    if (at && at[strlen(key)] != 'n') *value = strtol(at + strlen(key), NULL, 10);
}

/* `"legal":{"play":["AS", ...],"name":["2C", ...],"also":[...]}`: the first card that may be played or named. */
static void read_choice(struct socket_state *s, const char *text, size_t length) {
    const char *legal = find(text, length, "\"legal\":{");
    if (!legal) return;
    size_t rest = length - (size_t)(legal - text);
    const char *play = find(legal, rest, "\"play\":["), *name = find(legal, rest, "\"name\":["), *first = NULL;
    if (play && play[8] == '"') first = play + 9, s->choice_kind = 'p';
    else if (name && name[8] == '"') first = name + 9, s->choice_kind = 'n';
    if (!first) return;
    const char *end = memchr(first, '"', sizeof s->choice);
    if (!end) fail("a card with a long name");
    memcpy(s->choice, first, (size_t)(end - first));
    s->choice[end - first] = 0;
    s->may_play = true;
}

static void got_move(struct socket_state *s, size_t frame_bytes) {
    uint32_t place = s->moves_seen++ % RING;
    if (measuring) move_frame_bytes += frame_bytes;
    if (++got[s->table][place] < SEATS) return;
    last_move_at = now();
    if (!measuring) return;
    moves++;
    if (latency_count < LATENCIES_MAX)
        latencies[latency_count++] = (uint32_t)((last_move_at - sent_at[s->table][place]) * 1e6);
}

static void is_ready(struct socket_state *s) {
    s->state = READY;
    ready_count++;
}

/* A decision that does not say who took it was taken by the seat's player. */
static int is_players_move(const char *text, size_t length) {
    int decision = find(text, length, "\"kind\":\"card_played\"") || find(text, length, "\"kind\":\"trump_");
    return decision && !find(text, length, "\"by\":\"");
}

static void event_came(struct socket_state *s, const char *text, size_t length, size_t frame_bytes) {
    char id[32];
    if (running && is_players_move(text, length)) got_move(s, frame_bytes);
    const char *own = find(text, length, "\"id\":\"");
    if (own) {
        acknowledged++;
        if (s->state == SITTING && !memcmp(own + 6, s->sit_id, strlen(s->sit_id))) is_ready(s);
    }
    long before = s->turn;
    number_after(text, length, "\"round\":", &s->round);
    number_after(text, length, "\"turn\":", &s->turn);
    if (s->turn != before) s->may_play = false; /* the clock decided before the start */
    if (find(text, length < 80 ? length : 80, "\"kind\":\"count_in_started\"")) {
        s->answered_turn = -1;
        if (running) send_simple(s, "ready", id);
    }
    read_choice(s, text, length);
    if (running && s->may_play) may_answer(s);
}

static void snapshot_came(struct socket_state *s, const char *text, size_t length) {
    number_after(text, length, "\"round\":", &s->round);
    number_after(text, length, "\"turn\":", &s->turn);
    read_choice(s, text, length);
    if (s->state != GREETING) return;
    const char *seat = find(text, length, "\"seat\":");
    if (seat && seat[7] == 'n') {
        s->state = SITTING;
        send_simple(s, "sit", s->sit_id);
    } else {
        is_ready(s);
    }
}

#include "load_colyseus.h"

static void text_came(struct socket_state *s, const char *text, size_t length, size_t frame_bytes) {
    frames++;
    if (s->is_colyseus) colyseus_came(s, text, length, frame_bytes);
    else if (length > 16 && !memcmp(text, "{\"type\":\"event\"", 15)) event_came(s, text, length, frame_bytes);
    else if (length > 19 && !memcmp(text, "{\"type\":\"snapshot\"", 18)) snapshot_came(s, text, length);
    else if (length > 18 && !memcmp(text, "{\"type\":\"refused\"", 17)) {
        if (!refused_count++) snprintf(first_refusal, sizeof first_refusal, "%.*s", (int)length, text);
        if (running) moves_sent[s->table]--; /* nobody will see it */
    }
}

static void closed(struct socket_state *s) {
    closed_count++;
    close(s->fd);
    s->fd = -1;
    if (!running) fail("the server closed a socket before the start");
}

/* One whole frame at `in`, if there is one; its size, else 0. */
static size_t take_frame(struct socket_state *s, char *in, size_t have) {
    if (have < 2) return 0;
    size_t length = in[1] & 0x7f, head = 2;
    if (length == 126) {
        if (have < 4) return 0;
        length = (size_t)(unsigned char)in[2] << 8 | (unsigned char)in[3];
        head = 4;
    } else if (length == 127) {
        fail("a frame of 64 KiB or more");
    }
    if (have < head + length) return 0;
    switch (in[0] & 0x0f) {
        case 1: case 2: text_came(s, in + head, length, head + length); break;
        case 8: closed(s); break;
        case 9: send_frame(s->fd, 10, in + head, length); break;
    }
    return head + length;
}

static size_t take_upgrade(struct socket_state *s, char *in, size_t have) {
    char *end = memmem(in, have, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(in, "HTTP/1.1 101", 12)) fail("a socket was not upgraded");
    if (s->is_colyseus) {
        s->state = GREETING;
    } else if (*s->hello) {
        s->state = GREETING;
        send_frame(s->fd, 1, s->hello, strlen(s->hello));
    } else {
        is_ready(s);
    }
    return (size_t)(end - in) + 4;
}

static void readable(struct socket_state *s) {
    ssize_t count = read(s->fd, s->in + s->have, IN_BYTES_MAX - s->have);
    if (count <= 0) {
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
        closed(s);
        return;
    }
    s->have += (size_t)count;
    size_t used = 0, taken;
    while (s->fd >= 0) {
        taken = s->state == UPGRADING ? take_upgrade(s, s->in + used, s->have - used) : take_frame(s, s->in + used, s->have - used);
        if (!taken) break;
        used += taken;
    }
    s->have -= used;
    if (s->have) memmove(s->in, s->in + used, s->have);
}

static void open_socket(struct socket_state *s, int port, const char *path) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&to, sizeof to)) fail("can't connect");
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n", path, port);
    write_all(s->fd, text, (size_t)length);
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, s->fd, &e)) fail("epoll_ctl");
}

static void open_all(const char *plan) {
    FILE *file = fopen(plan, "r");
    char *line = NULL;
    size_t size = 0;
    if (!file) fail("no plan");
    while (getline(&line, &size, file) > 0) {
        if (socket_count == TABLES_MAX * SEATS) fail("too many tables");
        struct socket_state *s = &sockets[socket_count];
        char *rest = line, *port = strsep(&rest, "\t\n"), *path = strsep(&rest, "\t\n");
        s->hello = strdup(strsep(&rest, "\t\n"));
        s->is_colyseus = !strcmp(s->hello, "colyseus");
        s->opening = strdup(strsep(&rest, "\t\n"));
        s->table = socket_count++ / SEATS;
        s->in = malloc(IN_BYTES_MAX);
        s->round = s->turn = s->answered_round = s->answered_turn = -1;
        open_socket(s, atoi(port), path);
    }
    free(line);
    fclose(file);
}

static void start_timer(void) {
    long nanoseconds = (long)(1e9 / moves_a_second);
    struct timespec each = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    struct itimerspec timer = {.it_interval = each, .it_value = each};
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    if (timer_fd < 0 || timerfd_settime(timer_fd, 0, &timer, NULL) || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &e))
        fail("no timer");
}

static void timer_fired(void) {
    uint64_t count;
    if (read(timer_fd, &count, sizeof count) != sizeof count) return;
    due += count;
    make_due_moves();
}

static void start(void) {
    running = true;
    if (moves_a_second > 0) start_timer();
    for (int i = 0; i < socket_count; i++) {
        struct socket_state *s = &sockets[i];
        if (s->is_colyseus && s->may_play) play_of_hand(s);
        else if (*s->opening) send_move(s, s->opening, strlen(s->opening));
        else if (s->may_play) may_answer(s);
    }
}

static int by_size(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double part(double share) {
    return latency_count ? latencies[(uint64_t)((double)(latency_count - 1) * share)] / 1000.0 : 0;
}

static void report(double seconds, double cpu) {
    qsort(latencies, latency_count, sizeof *latencies, by_size);
    printf("{\"moves\":%llu,\"seconds\":%.3f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"bytes_a_move\":%.1f,\"client_core\":%.3f,"
           "\"acknowledged\":%llu,\"refused\":%llu,\"closed\":%llu}\n",
           (unsigned long long)moves, seconds, part(0.5), part(0.99), moves ? (double)move_frame_bytes / (double)moves : 0,
           cpu / seconds, (unsigned long long)acknowledged, (unsigned long long)refused_count, (unsigned long long)closed_count);
    if (refused_count) fprintf(stderr, "load: first refusal: %s\n", first_refusal);
}

static void step(int wait_ms) {
    struct epoll_event events[256];
    int count = epoll_wait(epoll_fd, events, 256, wait_ms);
    for (int i = 0; i < count; i++) {
        struct socket_state *s = events[i].data.ptr;
        if (!s) timer_fired();
        else if (s->fd >= 0) readable(s);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) fail("usage: load PLAN WARM_SECONDS WINDOW_SECONDS MOVES_A_SECOND");
    moves_a_second = atof(argv[4]);
    latencies = malloc(LATENCIES_MAX * sizeof *latencies);
    epoll_fd = epoll_create1(0);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    random_state = ((uint64_t)t.tv_sec * 1000000007ULL ^ (uint64_t)t.tv_nsec) | 1;
    id_base = random_bits();
    double begun = now(), window_at, cpu_at;
    open_all(argv[1]);
    while (ready_count < socket_count) {
        step(100);
        if (now() - begun > READY_SECONDS_MAX) fail("not every socket became ready");
    }
    start();
    window_at = last_move_at = now();
    window_at += atof(argv[2]);
    while (now() < window_at) step(10);
    puts("window");
    fflush(stdout);
    measuring = true;
    due = 0; /* what the first rounds' count-ins held up is not caught up in the window */
    window_at = now(), cpu_at = own_cpu();
    double end = window_at + atof(argv[3]);
    while (now() < end) step(10);
    measuring = false;
    if (now() - last_move_at > QUIET_SECONDS_MAX) fail("the tables stand still");
    report(now() - window_at, own_cpu() - cpu_at);
    fflush(stdout);
    getchar(); /* the sockets stay open until whoever measures has looked */
    return 0;
}
