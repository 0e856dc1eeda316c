/* What Colyseus says and hears: a code, a type as a short text, then MessagePack. Open load.c first.
 *
 * The room of node_peers/colyseus.cjs tells a player of the own seat and hand, and everybody of each card. Numbers there
 * are below 128, so each is one byte; NO_NUMBER is what MessagePack has for null.
 */
#ifndef LOAD_COLYSEUS_H
#define LOAD_COLYSEUS_H

enum { JOIN_ROOM = 10, ROOM_DATA = 13, NO_NUMBER = 0xc0, SUIT_CARDS = 13 };

static bool is_said(const char *text, size_t length, const char *type) {
    return text[0] == ROOM_DATA && length > strlen(type) && !memcmp(text + 1, type, strlen(type));
}

static int byte_after(const char *text, size_t length, const char *key) {
    const char *at = find(text, length, key);
    if (!at) fail("a message of Colyseus without what it should have");
    return (unsigned char)at[strlen(key)];
}

static void dealt_came(struct socket_state *s, const char *text, size_t length) {
    s->seat = byte_after(text, length, "\xa4seat");
    s->held = byte_after(text, length, "\xa4hand") & 0x0f;
    memcpy(s->hand, find(text, length, "\xa4hand") + 6, (size_t)s->held);
    s->led = NO_NUMBER;
}

/* The first card that follows, else the first one. */
static void play_of_hand(struct socket_state *s) {
    int place = 0;
    while (place < s->held && s->hand[place] / SUIT_CARDS != s->led) place++;
    if (place == s->held) place = 0;
    char text[] = {ROOM_DATA, '\xa4', 'p', 'l', 'a', 'y', s->hand[place]};
    memmove(s->hand + place, s->hand + place + 1, (size_t)(--s->held - place));
    s->may_play = false;
    send_move(s, text, sizeof text);
}

static void colyseus_came(struct socket_state *s, const char *text, size_t length, size_t frame_bytes) {
    if (text[0] == JOIN_ROOM) {
        send_frame(s->fd, 2, text, 1); /* only now are messages sent to it */
        is_ready(s);
    } else if (is_said(text, length, "\xa7refused")) {
        refused_count++;
    } else if (is_said(text, length, "\xa5" "dealt") || is_said(text, length, "\xa6played")) {
        if (text[1] == '\xa5') dealt_came(s, text, length);
        else {
            if (running) got_move(s, frame_bytes);
            s->led = byte_after(text, length, "\xa3led");
        }
        s->may_play = byte_after(text, length, "\xa4next") == s->seat;
        if (running && s->may_play) play_of_hand(s);
    }
}

#endif
