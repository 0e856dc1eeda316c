// Colyseus with a trick game of four seats and 52 cards, in memory; its clients are told of moves by messages.
//
//     node colyseus.cjs PORT
//
// When four have joined a room, each is sent "dealt" with the own seat and hand. Whoever is on turn sends "play" with a
// card and must follow suit; one "played" goes to all four. When the cards have been played, they are dealt again.
"use strict";
const { Room, Server } = require("@colyseus/core");
const { WebSocketTransport } = require("@colyseus/ws-transport");
const { SEATS, CARDS, suit, hands, mayPlay, winner } = require("./trick_game.cjs");

function shuffled() {
    const cards = [...Array(CARDS).keys()];
    for (let last = CARDS - 1; last > 0; last--) {
        const drawn = Math.floor(Math.random() * (last + 1));
        [cards[last], cards[drawn]] = [cards[drawn], cards[last]];
    }
    return cards;
}

class Cards extends Room {
    onCreate() {
        this.maxClients = SEATS;
        this.seats = [];
        this.trick = [];
        this.tricks = [0, 0, 0, 0];
        this.next = 0;
        this.onMessage("play", (client, card) => this.play(client, card));
    }

    onJoin(client) {
        client.seat = this.seats.push(client) - 1;
        if (this.seats.length === SEATS) this.deal();
    }

    deal() {
        this.hands = hands(shuffled());
        this.seats.forEach((client, seat) => client.send("dealt", { seat, hand: this.hands[seat], next: this.next }));
    }

    play(client, card) {
        const seat = client.seat;
        const hand = this.hands[seat];
        if (seat !== this.next || !mayPlay(hand, this.trick, card)) {
            client.send("refused", { card });
            return;
        }
        hand.splice(hand.indexOf(card), 1);
        this.trick.push({ seat, card });
        this.next = (seat + 1) % SEATS;
        if (this.trick.length === SEATS) {
            this.next = winner(this.trick);
            this.tricks[this.next] += 1;
            this.trick = [];
        }
        const isOver = !this.trick.length && !this.hands[0].length;
        const led = this.trick.length ? suit(this.trick[0].card) : null;
        this.broadcast("played", { seat, card, led, next: isOver ? null : this.next, tricks: this.tricks });
        if (isOver) this.deal();
    }
}

const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("cards", Cards);
server.listen(Number(process.argv[2]));
