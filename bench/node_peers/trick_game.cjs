// The trick game of the peers' servers: four seats, 52 cards, suit is followed, the winner leads.
"use strict";
const SEATS = 4;
const CARDS = 52;
const SUIT_CARDS = 13;

const suit = (card) => Math.floor(card / SUIT_CARDS);

// Four hands of shuffled cards.
function hands(cards) {
    return [0, 1, 2, 3].map((seat) => cards.slice(seat * SUIT_CARDS, (seat + 1) * SUIT_CARDS));
}

// Whether a hand may play a card on what lies there.
function mayPlay(hand, trick, card) {
    const must = trick.length && hand.some((held) => suit(held) === suit(trick[0].card));
    return hand.includes(card) && !(must && suit(card) !== suit(trick[0].card));
}

// The seat that wins a whole trick.
function winner(trick) {
    const led = trick.filter((play) => suit(play.card) === suit(trick[0].card));
    return led.reduce((best, play) => (play.card > best.card ? play : best)).seat;
}

module.exports = { SEATS, CARDS, suit, hands, mayPlay, winner };
