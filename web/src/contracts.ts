// Written by `make documents` from libs/contracts: change that.

/** An account as its owner sees it; `name_login` None: a guest without a password. */
export interface Account {
  id: string;
  name: string;
  avatar: string;
  role: string;
  name_login?: string | null;
}

/** What operators tell every table, for instance that maintenance is near; None: no more (TL-40). */
export interface Announced {
  type: "announced";
  text: string | null;
}

/** Agree, or not, in the vote with this number. */
export interface AnswerVote {
  type: "answer_vote";
  id: string;
  vote: number;
  agree: boolean;
}

/** Ask for the table's microphone, to record the voice note of this round (TL-47): answered with `upload_ticket`. */
export interface AskMicrophone {
  type: "ask_microphone";
  id: string;
}

export interface AskTrump {
  type: "ask_trump";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
}

/** Ask the others for something. */
export interface AskVote {
  type: "ask_vote";
  id: string;
  about: "bot" | "end_game" | "partner";
  seat?: number | null;
}

export interface Bid {
  type: "bid";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
  points: number;
}

/** Everybody whom one has blocked, the last one first: quick play seats neither with the other, and one. */
export interface BlockList {
  blocked: PlayerShown[];
}

/** One word of the auction; no points: a pass. */
export interface Call {
  seat: number;
  points?: number | null;
}

/** Give the microphone back without a note; it was this round's (TL-47). */
export interface CancelNote {
  type: "cancel_note";
  id: string;
}

/** GET /v1/games. */
export interface Catalogue {
  games: GameOffered[];
  avatars: string[];
  terms: TermsLimits;
}

/** PATCH /v1/me. */
export interface ChangeMe {
  name?: string | null;
  avatar?: string | null;
  name_login?: string | null;
  password?: string | null;
  password_current?: string | null;
}

/** The host gives options another value, before the first count-in, where the game lets them be changed (TL-1). */
export interface ChangeOptions {
  type: "change_options";
  id: string;
  options: Record<string, unknown>;
}

export interface ChooseTrump {
  type: "choose_trump";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
  card?: string | null;
  suit?: string | null;
}

/** The last frame before the table closes a socket, and why. */
export interface Closing {
  type: "closing";
  code: string;
  message: string;
  path?: string | null;
}

/** A play that makes a Rebel of a King: the `ordinal`th time that this card is played in the round (KR-14). */
export interface Convert {
  card: string;
  ordinal?: number;
}

/** Chosen when the table is made, and never changed. */
export interface CourtPieceOptions {
  trump?: "hidden" | "kaat" | "open";
  piles?: "3-2-2" | "5-3-3";
  ace_cannot_win_pile?: boolean;
  winning_points?: number;
  four_point_card?: string | null;
  six_point_finish?: boolean;
  honour_threshold?: number;
  show_on_lead_must_lead_trump?: boolean;
  fresh_win_must_be_after_showing?: boolean;
  kaat_sweep_always_two?: boolean;
}

/** All that a seat (None: a spectator) may know. */
export interface CourtPieceView {
  seat: number | null;
  options: CourtPieceOptions;
  phase: "choosing" | "over" | "playing" | "waiting";
  round: number;
  turn: number;
  to_act: number | null;
  caller: number | null;
  totals: [number, number];
  collected: [number, number];
  hand: string[];
  hand_counts: number[];
  trump: string | null;
  trump_shown: boolean;
  indicator: string | null;
  must_play_trump: boolean;
  leader: number;
  winning: number | null;
  trick: CourtPieceSeenCard[];
  trump_from: number;
  pile: number;
  pile_needed: number;
  streak: number | null;
  tricks: CourtPieceSeenTrick[];
  legal: Legal;
  ended: CourtPieceRoundEnded | null;
}

/** The host deals, where the game leaves that to the host: the count-in ends (TL-10). */
export interface Deal {
  type: "deal";
  id: string;
}

/** One shuffle that was looked at, and what made it one-sided. */
export interface DealTry {
  stage: number;
  attempt: number;
  one_sided?: ("aces" | "honours" | "long_suit" | "trumps")[];
}

export interface Declare {
  type: "declare";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
  contract: string;
  suit?: string | null;
}

/** A command that is answered again, or that needed no event; `version` is where its event stands. */
export interface Done {
  type: "done";
  id: string;
  version: number;
}

/** DELETE /v1/sessions: the session of this refresh token, or (with an access token) every one of the account. */
export interface EndSession {
  refresh_token?: string | null;
}

/** One page of a ledger, newest first; `next_before` None: that was all. */
export interface EntryList {
  entries: WalletEntry[];
  next_before?: number | null;
}

/** One version of the table as this seat may see it. */
export interface EventFrame {
  type: "event";
  version: number;
  kind: string;
  public: Record<string, unknown>;
  secret?: Record<string, unknown> | null;
  id?: string | null;
  legal?: Legal | null;
  remaining_ms?: number | null;
}

/** What became of a convert card: who played it, and whether that made a Rebel of a King. */
export interface Fate {
  card: string;
  ordinal: number;
  seat: number;
  joined: boolean;
}

/** A newer token, so that the socket does not end with the old one. */
export interface FreshToken {
  type: "fresh_token";
  token: string;
}

/** One page of a player's games, the last one first; of other players only those at public tables. */
export interface GameList {
  games: GamePlayed[];
  next: string | null;
}

/** One game of the catalogue. */
export interface GameOffered {
  name: string;
  title: string;
  rules_version: number;
  direction: string;
  stake_unit: string;
  seats: number[];
  options: Record<string, unknown>;
  changeable?: string[];
}

/** One of a player's games. */
export interface GamePlayed {
  table_id: string;
  game: string;
  game_number: number;
  at: string;
  outcome: "played" | "quit";
  place: number | null;
  points: number;
  replay: string;
}

/** What a player has done in one game, all weeks together: games played to their end, those of them won, games quit,. */
export interface GameStatistics {
  game: string;
  played: number;
  won: number;
  quits: number;
  points: number;
}

/** GET /v1/me/games and /v1/players/{handle}/games. */
export interface GamesQuery {
  limit?: number;
  after?: string | null;
}

/** Sent at least every HEARTBEAT_SECONDS: a client that has less than `version` asks again with hello. */
export interface Heartbeat {
  type: "heartbeat";
  version: number;
}

/** The first frame. */
export interface Hello {
  type: "hello";
  protocol: number;
  token: string;
  version?: number;
}

/** Take the seat over from the bot that plays it (TL-16). */
export interface ImBack {
  type: "im_back";
  id: string;
}

/** King in 20 hands. */
export interface King20Options {
  hearts_broken_by?: "discard" | "never" | "played";
  must_overtrump?: boolean;
  must_underplay?: boolean;
  heart_forced_in_king_of_hearts?: boolean;
  early_stop?: boolean;
}

export interface King20View {
  seat: number | null;
  phase: "declaring" | "over" | "playing" | "waiting";
  round: number;
  rounds: number;
  turn: number;
  to_act: number | null;
  declarer: number | null;
  contract: string | null;
  trump: string | null;
  totals: number[];
  counts: number[];
  points: number[];
  hand: string[];
  hand_counts: number[];
  hearts_banned: boolean;
  leader: number;
  winning: number | null;
  trick: SeenCard[];
  tricks: SeenTrick[];
  sheet: SheetLine[];
  last_finished: number | null;
  remaining: string[][];
  legal: Legal;
  ended: KingRoundEnded | null;
  options: King20Options;
  trumps_declared: number[];
  negatives_declared: number[];
}

/** King with 32 cards, in which each player declares all 14 contracts. */
export interface KingLongOptions {
  early_stop?: boolean;
  positive_restrictions?: boolean;
  blind_choice?: boolean;
  first_leader?: "chooser" | "next";
}

export interface KingLongView {
  seat: number | null;
  phase: "declaring" | "over" | "playing" | "waiting";
  round: number;
  rounds: number;
  turn: number;
  to_act: number | null;
  declarer: number | null;
  contract: string | null;
  trump: string | null;
  totals: number[];
  counts: number[];
  points: number[];
  hand: string[];
  hand_counts: number[];
  hearts_banned: boolean;
  leader: number;
  winning: number | null;
  trick: SeenCard[];
  tricks: SeenTrick[];
  sheet: SheetLine[];
  last_finished: number | null;
  remaining: string[][];
  legal: Legal;
  ended: KingRoundEnded | null;
  options: KingLongOptions;
}

/** King with 32 cards, 14 deals in a fixed order. */
export interface KingShortOptions {
  early_stop?: boolean;
  positive_restrictions?: boolean;
}

export interface KingShortView {
  seat: number | null;
  phase: "declaring" | "over" | "playing" | "waiting";
  round: number;
  rounds: number;
  turn: number;
  to_act: number | null;
  declarer: number | null;
  contract: string | null;
  trump: string | null;
  totals: number[];
  counts: number[];
  points: number[];
  hand: string[];
  hand_counts: number[];
  hearts_banned: boolean;
  leader: number;
  winning: number | null;
  trick: SeenCard[];
  tricks: SeenTrick[];
  sheet: SheetLine[];
  last_finished: number | null;
  remaining: string[][];
  legal: Legal;
  ended: KingRoundEnded | null;
  options: KingShortOptions;
}

/** Chosen when the table is made. */
export interface KingsAndRebelsOptions {
  seats?: number;
  decks?: number;
  minimum_bid?: number | null;
  bid_multiples_of_5?: boolean;
  last_seat_must_bid?: boolean;
  convert_cards?: "public" | "secret";
  convert_cards_max?: number | null;
  three_of_spades_top_trump?: boolean;
  later_equal_card_wins?: boolean;
  rounds?: number | null;
}

/** All that a seat (None: a spectator) may know. */
export interface KingsAndRebelsView {
  seat: number | null;
  options: KingsAndRebelsOptions;
  phase: "bidding" | "naming" | "over" | "playing" | "waiting";
  round: number;
  rounds: number;
  attempt: number;
  turn: number;
  to_act: number | null;
  dealer: number | null;
  removed: string[];
  points_in_pack: number;
  minimum_bid: number;
  converts_max: number;
  totals: number[];
  calls: Call[];
  passed: number[];
  high_bid: number | null;
  high_bidder: number | null;
  rebel_leader: number | null;
  bid: number | null;
  trump: string | null;
  converts: Convert[];
  fates: Fate[];
  rebels: number[];
  captured: number[];
  rebel_points: number;
  hand: string[];
  hand_counts: number[];
  leader: number;
  winning: number | null;
  trick: SeenCard[];
  tricks: SeenTrick[];
  legal: Legal;
  ended: KingsAndRebelsRoundEnded | null;
}

/** One row of a leaderboard: games won decide, then points; equal ones share a place. */
export interface Leader {
  place: number;
  handle: string;
  name: string;
  avatar: string;
  played: number;
  won: number;
  points: number;
}

/** GET /v1/leaderboards/{game}: one page of a week. */
export interface Leaderboard {
  game: string;
  week: string;
  leaders: Leader[];
  next: number | null;
}

/** GET /v1/leaderboards/{game}. */
export interface LeaderboardQuery {
  week?: string | null;
  limit?: number;
  after?: number;
}

/** Give the seat up (TL-11, TL-29, TL-35, TL-38). */
export interface Leave {
  type: "leave";
  id: string;
}

/** What one seat may decide now, in the words of the wire. */
export interface Legal {
  play?: string[];
  name?: string[];
  also?: string[];
}

/** GET /v1/tables. */
export interface ListQuery {
  game?: string | null;
  bet_coins_min?: number;
  bet_coins_max?: number;
  limit?: number;
  after?: number | null;
}

/** GET /v1/me. */
export interface Me {
  account: Account;
  table: SeatedAt | null;
}

/** PATCH /v1/me. */
export interface MeChanged {
  account: Account;
  access_token: string;
  access_seconds: number;
  refresh_token?: string | null;
}

/** Who records just now, and for how long the microphone is held for them; `seat` None: nobody (TL-47). */
export interface MicrophoneHeld {
  type: "microphone";
  seat: number | null;
  remaining_ms?: number | null;
}

/** Hear no more, or again, at this table what the player in this seat says (TL-45). */
export interface Mute {
  type: "mute";
  id: string;
  seat: number;
  muted: boolean;
}

export interface NameConverts {
  type: "name_converts";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
  trump: string;
  converts: Convert[];
}

/** POST /v1/me/blocks: the player with this handle, or the one in this seat of a table. */
export interface NewBlock {
  handle?: string | null;
  table_id?: string | null;
  seat?: number | null;
}

/** POST /v1/guests. */
export interface NewGuest {
  name?: string | null;
  avatar?: string | null;
}

/** POST /v1/sessions: a refresh token, or a login name with its password. */
export interface NewSession {
  refresh_token?: string | null;
  name_login?: string | null;
  password?: string | null;
}

/** POST /v1/tables. */
export interface NewTable {
  game: string;
  bet_coins: number;
  options?: Record<string, unknown>;
  seats?: number | null;
  turn_seconds?: number | null;
  visibility?: "private" | "public";
  bot_level?: "easy" | "normal" | "strong";
}

/** A voice note of the player in this seat, for who was seated when it was sent: all play it together, at `plays_at`. */
export interface NoteReady {
  type: "note_ready";
  note_id: string;
  seat: number | null;
  milliseconds: number;
  plays_at: string;
  plays_in_ms: number;
  path: string;
}

export interface PassBid {
  type: "pass_bid";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
}

/** Answered by a heartbeat with the table's version. */
export interface Ping {
  type: "ping";
}

export interface PlayCard {
  type: "play_card";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
  card: string;
}

/** A player as strangers may know them. */
export interface PlayerShown {
  handle: string;
  name: string;
  avatar: string;
}

/** The body of every refusal; docs/refusals.md lists the codes. */
export interface Problem {
  code: string;
  message?: string;
  details?: Record<string, unknown>;
}

/** GET /v1/me/profile and /v1/players/{handle}: what strangers may know of a player. */
export interface Profile {
  handle: string;
  name: string;
  avatar: string;
  statistics: GameStatistics[];
  last: GameList;
}

/** POST /v1/quick-play: a public table of this game and bet, or a new one. */
export interface QuickPlay {
  game: string;
  bet_coins: number;
}

/** Ready for the next round: when everyone present says so, the count-in ends at once (TL-9). */
export interface Ready {
  type: "ready";
  id: string;
}

/** A command that changed nothing; `retry` says that the same id may be sent again later. */
export interface RefusedFrame {
  type: "refused";
  code: string;
  message: string;
  id?: string | null;
  details?: Record<string, unknown>;
  retry?: boolean;
}

/** GET /v1/tables/{table_id}/replay: the log up to the last round whose result is stored. */
export interface Replay {
  table_id: string;
  terms: TableTerms;
  events: ReplayEvent[];
  more?: boolean;
}

/** One stored event. */
export interface ReplayEvent {
  version: number;
  kind: string;
  at: string;
  body: string | null;
  chain: string;
}

/** GET /v1/tables/{table_id}/replay: what came after this version. */
export interface ReplayQuery {
  after?: number;
}

/** What the player in a seat says just now. */
export interface Said {
  type: "said";
  seat: number;
  phrase: string;
}

/** A phrase or a reaction, for everybody at the table just now (TL-45). */
export interface Say {
  type: "say";
  id: string;
  phrase: "angry" | "clapping" | "good_game" | "good_luck" | "goodbye" | "hello" | "hurry_up" | "laughing" | "one_moment" | "oops" | "sad" | "sorry" | "surprised" | "thank_you" | "thumbs_up" | "well_played";
}

/** Who holds a seat: `kind` is free, player or bot. */
export interface SeatView {
  kind?: string;
  name?: string | null;
  avatar?: string | null;
  away?: boolean;
  bot_plays?: boolean;
  ready?: boolean;
  committed?: boolean;
  expects?: "anybody" | "player" | null;
}

/** The table where one sits. */
export interface SeatedAt {
  table_id: string;
  game: string;
  socket: SocketPaths;
}

/** During a count-in: sha256 in hex of the string this client adds to the next deal's chance. */
export interface SeedCommit {
  type: "seed_commit";
  id: string;
  sha256: string;
}

/** At zero: the string that was committed. */
export interface SeedOpen {
  type: "seed_open";
  id: string;
  string: string;
}

/** Take a bot out of its seat, before a game or between rounds (TL-25). */
export interface SendBotAway {
  type: "send_bot_away";
  id: string;
  seat: number;
}

/** The host takes a player out of their seat before a game; they can't sit down here again for a while (TL-8). */
export interface SendPlayerAway {
  type: "send_player_away";
  id: string;
  seat: number;
}

/** A signed-in account. */
export interface Session {
  account: Account;
  access_token: string;
  refresh_token: string;
  access_seconds: number;
}

/** A finished round on the score sheet: who declared what, and what each seat took and scored in it. */
export interface SheetLine {
  round: number;
  declarer: number | null;
  contract: string;
  suit: string | null;
  counts: number[];
  points: number[];
}

export interface ShowTrump {
  type: "show_trump";
  id: string;
  round: number;
  turn: number;
  game?: number | null;
}

/** Take a seat: the one named, or the next by the table's order (TL-4). */
export interface Sit {
  type: "sit";
  id: string;
  seat?: number | null;
}

/** All that this seat may know at a version: `table` for every game, `game` the game's view. */
export interface Snapshot {
  type: "snapshot";
  version: number;
  seat: number | null;
  table: TableView;
  game?: Record<string, unknown> | null;
  legal?: Legal | null;
  remaining_ms?: number | null;
  vote_remaining_ms?: number | null;
}

/** Where to connect: `direct` (the owner; None when nobody owns the table just now) first, then `any`. */
export interface SocketPaths {
  direct: string | null;
  any: string;
}

/** Begin the count-in with bots in the empty seats; with all seats taken, end the first count-in (TL-9). */
export interface StartNow {
  type: "start_now";
  id: string;
}

/** GET /v1/tables/{table_id}/audit: what the server finds when it compares its store with its memory. */
export interface TableAudit {
  version: number;
  events: number;
  chain_holds: boolean;
  replay_equals_live: boolean;
}

/** GET /v1/tables, newest first. */
export interface TableList {
  tables: TableListed[];
  next: number | null;
}

/** One row of the list of public tables. */
export interface TableListed {
  table_id: string;
  terms: TableTerms;
  free_seats: number;
  playing: boolean;
  host: PlayerShown | null;
  socket: SocketPaths;
}

/** POST /v1/tables and POST /v1/quick-play: a table one can join, and how others are let in. */
export interface TableRef {
  table_id: string;
  socket: SocketPaths;
  made?: boolean;
  code?: string | null;
  invite_token?: string | null;
  invite_url?: string | null;
}

/** One table. */
export interface TableSeen {
  table: TableShown;
  fresh: boolean;
  free_seats: number;
  socket: SocketPaths;
  code?: string | null;
  invite_token?: string | null;
  invite_url?: string | null;
}

/** What anybody with the code may know of a table. */
export interface TableShown {
  table_id: string;
  terms: TableTerms;
  phase: string;
  seats: (PlayerShown | null)[];
  bots: number[];
  round: number;
  version: number;
  process_id: string;
}

/** What is agreed when a table is opened, and holds until it is closed. */
export interface TableTerms {
  game: string;
  options: Record<string, unknown>;
  seats: number;
  bet_coins: number;
  turn_seconds: number;
  visibility: "private" | "public";
  bot_level: "easy" | "normal" | "strong";
}

/** What everybody at a table knows of it, around the cards. */
export interface TableView {
  table_id: string;
  terms: TableTerms;
  phase: string;
  host: number;
  game_number: number;
  round: number;
  attempt: number;
  bag: number | null;
  seats: SeatView[];
  started?: boolean;
  vote?: VoteView | null;
}

/** What a table may agree on: one setting of all services, DARBAR_TERMS_<FIELD>, told in the catalogue. */
export interface TermsLimits {
  bet_coins_min?: number;
  bet_coins_max?: number;
  turn_seconds_min?: number;
  turn_seconds_max?: number;
}

/** POST /v1/me/top-ups: the coins one has now. */
export interface ToppedUp {
  balance_coins: number | null;
}

/** To whoever has the microphone: goes with the recording to POST /v1/voice-notes, as the header Upload-Ticket. */
export interface UploadTicketGiven {
  type: "upload_ticket";
  id: string;
  ticket: string;
}

/** Since when and until when (None: for good) somebody sends no notes, and why. */
export interface VoiceBan {
  since: string;
  until: string | null;
  reason: string;
}

/** `ban` None: the account may send notes. */
export interface VoiceRights {
  account_id: string;
  ban?: VoiceBan | null;
}

/** A vote that runs, the same for everybody: who has asked, who has agreed, who has not answered yet. */
export interface VoteView {
  number: number;
  about: "bot" | "end_game" | "partner";
  about_seat: number | null;
  asked_by: number;
  waits_for: number[];
  agreed?: number[];
}

/** One line of a player's ledger. */
export interface WalletEntry {
  number: number;
  coins: number;
  reason: string;
  unit: string | null;
  table_id: string | null;
  at: string;
  purpose?: string | null;
}

/** A player's own wallet, newest entries first; `next_before` asks for the page after this one, None at the end. */
export interface WalletView {
  account_id: string;
  balance_coins: number;
  reserved_coins: number;
  in_pots_coins: number;
  entries: WalletEntry[];
  next_before?: number | null;
}

/** The answer to hello; frames or a snapshot up to `version` follow. */
export interface Welcome {
  type: "welcome";
  protocol: number;
  table_id: string;
  seat: number | null;
  version: number;
  announcement?: string | null;
}

/** How the cards of a round came to the seats: everything that a proof of the deal has to explain. */
export interface CourtPieceDealRecord {
  caller: number;
  hands: string[][];
  filtered: boolean;
  tries: DealTry[];
  trump?: string | null;
  indicator?: string | null;
}

export interface CourtPieceRoundEnded {
  round: number;
  outcome: "court" | "four_points" | "goon_court" | "six_points" | "win";
  winners: number[];
  points: [number, number];
  totals: [number, number];
  collected: [number, number];
  next_caller: number;
  game_over: boolean;
  deal: CourtPieceDealRecord;
  trump: string;
  trump_seat: number;
  face_down?: string[];
  places?: number[];
}

/** A card on the table; `card` is None for who may not know it: it lies face down. */
export interface CourtPieceSeenCard {
  seat: number;
  card: string | null;
  trump?: boolean;
  face_down?: boolean;
}

export interface CourtPieceSeenTrick {
  leader: number;
  cards: CourtPieceSeenCard[];
  winner: number;
  picked_up: number;
}

/** How the cards of a deal came to the seats: everything that a proof of it has to explain. */
export interface KingDealRecord {
  leader: number;
  hands: string[][];
  declarer?: number | null;
}

export interface KingRoundEnded {
  round: number;
  contract: string;
  counts: number[];
  points: number[];
  totals: number[];
  game_over: boolean;
  deal: KingDealRecord;
  suit?: string | null;
  stopped_early?: boolean;
  places?: number[];
  positive?: boolean[];
}

/** How the cards of a round came to the seats: everything that a proof of the deal has to explain. */
export interface KingsAndRebelsDealRecord {
  dealer: number;
  attempt: number;
  hands: string[][];
}

export interface KingsAndRebelsRoundEnded {
  round: number;
  leader: number;
  bid: number;
  trump: string;
  rebels: number[];
  converts: Fate[];
  captured: number[];
  red_points: number;
  success: boolean;
  winners: number[];
  points: number[];
  totals: number[];
  game_over: boolean;
  deal: KingsAndRebelsDealRecord;
  places?: number[];
}

export interface SeenCard {
  seat: number;
  card: string;
}

export interface SeenTrick {
  leader: number;
  cards: SeenCard[];
  winner: number;
}

export type ClientFrame =
  | Hello
  | FreshToken
  | Ping
  | Sit
  | StartNow
  | Ready
  | Deal
  | Leave
  | ImBack
  | SendBotAway
  | SendPlayerAway
  | AskVote
  | AnswerVote
  | ChangeOptions
  | Say
  | Mute
  | AskMicrophone
  | CancelNote
  | SeedCommit
  | SeedOpen
  | ChooseTrump
  | PlayCard
  | AskTrump
  | ShowTrump
  | Declare
  | Bid
  | PassBid
  | NameConverts;

export type ServerFrame =
  | Welcome
  | Snapshot
  | EventFrame
  | RefusedFrame
  | Done
  | Heartbeat
  | Said
  | MicrophoneHeld
  | UploadTicketGiven
  | NoteReady
  | Announced
  | Closing;

export type GameView =
  | CourtPieceView
  | King20View
  | KingShortView
  | KingLongView
  | KingsAndRebelsView;
