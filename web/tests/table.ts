import type { TableView } from "../src/contracts";
import { FREE } from "../src/model/table";

export const TABLE: TableView = {
  table_id: "t",
  terms: { game: "court_piece", options: {}, seats: 4, bet_coins: 25, turn_seconds: 15, visibility: "private", bot_level: "normal" },
  phase: "waiting",
  host: 0,
  game_number: 1,
  round: 0,
  attempt: 0,
  bag: null,
  seats: [{ ...FREE, kind: "player", name: "Amina", avatar: "kite" }, FREE, FREE, FREE],
};
