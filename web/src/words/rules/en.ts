/** How each game is played, for whoever plays it the first time. `docs/rules/` has every ruling. */

export type RuleWords = Record<keyof typeof en, string>;

export const en = {
  "cp.aim": "Four players in two teams; your partner sits opposite. The first team with 10 points wins.",
  "cp.trump": "The caller gets five cards and lays one of them face down. Its suit is the trump, and only the caller knows it. Then everybody has thirteen cards.",
  "cp.follow": "Follow the suit that was led if you can. If you can't, play what you like.",
  "cp.win": "The highest trump takes the trick, else the highest card of the suit that was led. Here spades are trump.",
  "cp.ask": "When you can't follow, you may ask for the trump. Everybody then sees it, and you must play a trump if you have one.",
  "cp.power": "While the trump is face down it beats nothing: a card of its suit counts only if it is played after the showing.",
  "cp.pile": "Tricks stay in the middle. Win two in a row yourself and you pick up all that lie there: three or more the first time, two or more later.",
  "cp.round": "Seven tricks picked up win the round: 1 point. All thirteen are a Court: 2 points, and 3 if the other team chose the trump.",
  "cp.coins": "Everybody bets in each round, and the winners share the pot. After a Court the losers pay their bet twice.",

  "k20.aim": "Four players, everyone alone, 20 hands. Before each one a player declares what it is about: taking tricks with a trump, or keeping clear of something.",
  "k20.declare": "You declare five times in the game: two trump hands and three negative ones. The whole table can play each negative twice.",
  "k20.contracts": "What is in a trick counts for whoever wins it.",
  "k20.follow": "Follow suit if you can. The winner of a trick leads the next one.",
  "k20.trump": "In a trump hand, who can't follow must play a trump. Here hearts are trump.",
  "k20.throw": "In a negative hand, who can't follow must throw a card that counts. In No boys that is a king or a jack.",
  "k20.hearts": "In No hearts and No king of hearts nobody may lead a heart until one was thrown, unless nothing else is left.",
  "k20.end": "After 20 hands the highest total wins the pot of the whole game.",

  "ks.aim": "Four players, everyone alone, 32 cards from seven to ace. Fourteen deals: in seven you keep clear of something, in seven you want the same.",
  "ks.contracts": "The first seven deals take points, the other seven give the same. In the seventh everything counts at once.",
  "ks.follow": "There is no trump. Follow suit if you can, else throw what you like; the highest card of the suit led takes the trick.",
  "ks.hearts": "Where hearts or the king of hearts count, a heart may be led only when you have nothing else.",
  "ks.king": "Where the king of hearts counts, you must give it away as soon as you can't follow, or when a heart is led.",
  "ks.end": "After fourteen deals the highest total wins the pot.",

  "kl.aim": "The fourteen contracts of the short game, but the players choose: each declares each contract once, 56 deals in all.",
  "kl.choose": "When it is your turn to declare, you look at your eight cards and choose what is left on your list.",
  "kl.end": "A long evening: you can leave and come back at any deal. The highest total wins the pot.",

  "kr.aim": "Four to twelve players. One leads the Rebels and has promised points. Some of the others are on the leader's side, and don't know it until they play the named card.",
  "kr.points": "Cards that are worth points. All others are worth nothing.",
  "kr.bid": "First there is an auction. You bid the points you will take together with partners you don't know yet; each bid is at least 5 above the last. A pass is final.",
  "kr.convert": "Who bids highest leads the Rebels, names the trump, and names secretly the cards that make a King a Rebel.",
  "kr.join": "Whoever plays a named card becomes a Rebel at once: the seat turns red, and everybody sees it before the next card.",
  "kr.trick": "Follow suit if you can. The highest trump takes the trick, else the highest card of the suit led. Here clubs are trump.",
  "kr.win": "When all cards are played, the points of all Rebels are added up. If that is the bid or more, each Rebel scores the bid; else each King does.",
  "kr.coins": "The winning side of a round shares its pot. After the last round the highest total wins the game.",
} as const satisfies Record<string, string>;
