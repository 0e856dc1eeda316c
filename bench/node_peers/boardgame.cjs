// boardgame.io with a trick game of four seats and 52 cards, in memory or in PostgreSQL.
//
//     node boardgame.cjs PORT [DATABASE_URL]
//
// Its clients see their own hand, what lies on the table and the tricks that were won. Whoever is on turn plays a card
// and must follow suit; when the cards have been played, they are dealt again.
"use strict";
const { Server } = require("boardgame.io/server");
const { TurnOrder } = require("boardgame.io/core");

const { SEATS, CARDS, hands, mayPlay, winner } = require("./trick_game.cjs");

const deal = (random) => hands(random.Shuffle([...Array(CARDS).keys()]));

const game = {
    name: "cards",
    minPlayers: SEATS,
    maxPlayers: SEATS,
    disableUndo: true,
    setup: ({ random }) => ({ hands: deal(random), trick: [], tricks: [0, 0, 0, 0], next: 0, rounds: 0 }),
    turn: {
        order: { ...TurnOrder.DEFAULT, next: ({ G }) => G.next },
    },
    moves: {
        play: ({ G, random, events, playerID }, card) => {
            const seat = Number(playerID);
            const hand = G.hands[seat];
            if (!mayPlay(hand, G.trick, card)) return "INVALID_MOVE";
            hand.splice(hand.indexOf(card), 1);
            G.trick.push({ seat, card });
            G.next = (seat + 1) % SEATS;
            if (G.trick.length === SEATS) {
                G.next = winner(G.trick);
                G.tricks[G.next] += 1;
                G.trick = [];
                if (!G.hands[0].length) {
                    G.hands = deal(random);
                    G.rounds += 1;
                }
            }
            events.endTurn();
        },
    },
    playerView: ({ G, playerID }) => ({
        ...G,
        hands: G.hands.map((hand, seat) => (String(seat) === playerID ? hand : hand.length)),
    }),
};

async function main() {
    const [port, url] = process.argv.slice(2);
    let db;
    if (url) {
        const { PostgresStore } = require("bgio-postgres");
        db = new PostgresStore(url, { logging: false });
    }
    const server = Server({ games: [game], db, origins: ["*"] });
    await server.run(Number(port));
}

main();
