"""The life of a table once more, in plain words of docs/tables.md and without the domain's code: what has to be true.

Told every command before the table is, it says whether the table has to refuse it, and afterwards who sits there, who
has quit, whose bets lie in the pot, which vote stands, who is host and which clocks run until when. It knows no cards:
who plays when and how a round came out is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from plain_company import (
    BOT_ROUNDS,
    BUSY,
    COUNT_IN_SECONDS,
    DEALING,
    EXPIRIES,
    KEPT_BEFORE_SECONDS,
    KEPT_IN_GAME_SECONDS,
    SAME_TURN_SECONDS,
    SEEDS_SECONDS,
    SENT_AWAY_SECONDS,
    STEPS_MAX,
    VOTE_PAUSE_SECONDS,
    VOTE_SECONDS,
    VOTES_A_MINUTE,
    Clock,
    No,
    Outcome,
    Payment,
    PlainCompany,
    PlainSeat,
    Pot,
    Vote,
)


class PlainTable(PlainCompany):
    # Commands of people.

    def sit(self, who: str, seat: int | None, coins: int) -> None:
        if self.seat(who) is not None:
            raise No("already_seated")
        if coins < 2 * self.bet:
            raise No("short_of_coins")
        for code in ("sent_away", "sitting_paused"):
            if self.not_before.get((code, who), 0.0) > self.now:
                raise No(code)
        if self.payment is not None and self.payment.purpose == "table_closed":
            raise No("table_closed")
        seat = self._next_seat() if seat is None else seat
        if not self.takeable(seat):
            raise No("seat_taken")
        self._take_from_the_absent(seat)
        self.sittings += 1
        self.plain_seats[seat] = PlainSeat(who=who, sitting=self.sittings)
        self._company_changed = True
        if self.pot is not None:
            self.pot.given_up.discard(who)
        if self.vote is not None:
            self.vote.silent.add(who)
        self._note_company()

    def leave(self, who: str) -> None:
        plain_seat = self._plain_seat(who)
        if self.phase not in BUSY:
            self._stand_up(who, quits=self.counts and self.pot is not None)
        elif not plain_seat.left:
            plain_seat.left = True
            self._has_no_say(who)

    def start_now(self, who: str) -> None:
        self._plain_seat(who)
        empty = [
            seat for seat, plain_seat in enumerate(self.plain_seats) if plain_seat.free and not plain_seat.only_by_vote
        ]
        first_count_in = self.phase == "counting_in" and self.round == 1
        if self.phase in DEALING or not (empty or first_count_in):
            raise No("not_now")
        for seat in empty:
            self._seat_bot(seat)
        if not empty:
            self.start_wanted = True
        self._acts(who)

    def is_ready(self, who: str) -> None:
        self._plain_seat(who)
        if self.phase != "counting_in":
            raise No("not_now")
        self.ready.add(who)
        self._acts(who)

    def deal(self, who: str) -> None:
        seat = self._seat(who)
        if self.phase != "counting_in" or not self.host_deals:
            raise No("not_now")
        if seat != self.host:
            raise No("not_host")
        self.start_wanted = True
        self._acts(who)

    def is_back(self, who: str) -> None:
        plain_seat = self._plain_seat(who)
        if not (plain_seat.away or plain_seat.bot_plays or plain_seat.expiries):
            raise No("not_now")
        self._acts(who)

    def send_bot_away(self, who: str, seat: int) -> None:
        self._plain_seat(who)
        if self.phase in DEALING:
            raise No("round_running")
        if not self.plain_seats[seat].bot:
            raise No("not_a_bot")
        self.plain_seats[seat] = PlainSeat(only_by_vote=True, emptied_by=who)
        self._culprit, self._company_changed = who, True
        self._acts(who)

    def send_player_away(self, who: str, seat: int) -> None:
        own = self._seat(who)
        if own != self.host:
            raise No("not_host")
        if self.started or self.phase in DEALING:
            raise No("not_now")
        other = self.plain_seats[seat].who
        if other is None or seat == own:
            raise No("nobody_else_there")
        self.not_before["sent_away", other] = self.now + SENT_AWAY_SECONDS
        self._stand_up(other)
        self._culprit = who
        self._acts(who)

    def change_seats(self, who: str, seats: int) -> None:
        """Where the game lets the host change their number: until the first count-in, and nobody loses a seat."""
        if self._seat(who) != self.host:
            raise No("not_host")
        if self.phase != "waiting" or self.game > 1 or self.count_ins:
            raise No("not_now")
        if any(plain_seat.who is not None for plain_seat in self.plain_seats[seats:]):
            raise No("option_invalid")
        if seats != len(self.plain_seats):
            self.plain_seats = [*self.plain_seats[:seats], *(PlainSeat() for _ in range(seats - len(self.plain_seats)))]
            self._company_changed = True
        self._acts(who)

    def commit(self, who: str) -> None:
        self._plain_seat(who)
        if self.phase != "counting_in" or who in self.committed:
            raise No("seed_late")
        self.committed.add(who)

    def open(self, who: str) -> None:
        self._plain_seat(who)
        if self.phase != "opening_seeds" or who not in self.committed - self.opened:
            raise No("seed_late")
        self.opened.add(who)
        if self.opened == self.committed:
            self._begin()

    # Votes.

    def ask(self, who: str, about: str, seat: int | None) -> None:
        own = self._seat(who)
        self._refuse_question(own, about, seat)
        if about == "end_game" and self.people == [who]:
            self._acts(who)
            self.leave(who)
            return
        if self.vote is not None:
            raise No("vote_running")
        asked = self.votes_of.setdefault(who, [])
        often = len(asked) >= VOTES_A_MINUTE and asked[-VOTES_A_MINUTE] + 60.0 > self.now
        if often or self.vote_pauses.get((about, seat), 0.0) > self.now:
            raise No("vote_paused")
        self._acts(who)
        asked.append(self.now)
        silent = {
            plain_seat.who
            for number, plain_seat in enumerate(self.plain_seats)
            if plain_seat.who and not plain_seat.left and (about != "partner" or self._is_opponent(number))
        }
        self.vote = Vote(about, seat, who, silent - {who}, self.now + VOTE_SECONDS)

    def answer(self, who: str, *, agree: bool) -> None:
        self._plain_seat(who)
        if self.vote is None:
            raise No("vote_over")
        if who not in self.vote.silent:
            raise No("not_asked")
        self._acts(who)
        self.vote.silent.discard(who)
        if not agree:
            self._end_vote(agreed=False, pauses=True)

    def _refuse_question(self, own: int, about: str, seat: int | None) -> None:
        match about:
            case "partner":
                if not any(len(team) == 2 and self.host in team for team in self.teams):
                    raise No("no_partners")
                if own != self.host:
                    raise No("not_host")
                if not self._before_game():
                    raise No("not_now")
                if seat is None:
                    raise No("seat_unknown")
                if not self._is_opponent(seat) or self.plain_seats[seat].free:
                    raise No("not_an_opponent")
            case "bot":
                if seat is None:
                    raise No("seat_unknown")
                if self.phase in DEALING:
                    raise No("round_running")
                if seat == own or not self.takeable(seat):  # Whoever asks is back by asking.
                    raise No("seat_taken")
            case _:
                if seat is not None:
                    raise No("seat_unknown")
                if not self.started or self.voided or self.ending:
                    raise No("not_now")

    def _before_game(self) -> bool:
        return not self.started and self.phase in ("waiting", "counting_in")

    def _is_opponent(self, seat: int) -> bool:
        return not any(seat in team and self.host in team for team in self.teams)

    def _vote_follows(self) -> bool:
        vote = self.vote
        if vote is None:
            return False
        asker = next((plain_seat for plain_seat in self.plain_seats if plain_seat.who == vote.asker), None)
        if asker is None or asker.left or not self._makes_sense(vote):
            self._end_vote(agreed=False, pauses=False)
        elif not vote.silent:
            self._end_vote(agreed=True, pauses=False)
        return self.vote is None

    def _makes_sense(self, vote: Vote) -> bool:
        if vote.about == "partner":
            return self._before_game() and not self._company_changed
        if vote.about == "bot":
            return vote.seat is not None and self.phase == "waiting" and self.takeable(vote.seat)
        return self.started and not self.voided

    def _end_vote(self, *, agreed: bool, pauses: bool) -> None:
        vote, self.vote = self.vote, None
        assert vote is not None
        if pauses:
            self.vote_pauses[vote.about, vote.seat] = self.now + VOTE_PAUSE_SECONDS
        if not agreed:
            return
        if vote.about == "partner":
            assert vote.seat is not None
            (partner,) = (seat for team in self.teams if self.host in team for seat in team if seat != self.host)
            plain_seats = self.plain_seats
            plain_seats[partner], plain_seats[vote.seat] = plain_seats[vote.seat], plain_seats[partner]
            self.phase = "waiting"
        elif vote.about == "bot":
            assert vote.seat is not None
            self._seat_bot(vote.seat)
        else:
            self.ending = True
            if self.phase == "staking":
                self._ask_wallet("refunding", Payment("ended_early"))
            elif self.phase not in ("settling", "refunding"):
                self.phase = "waiting"

    # Connections, clocks, operators.

    def connected(self, who: str) -> None:
        if self.seat(who) is not None and not self._plain_seat(who).online:
            self._comes_back(who)

    def disconnected(self, who: str) -> None:
        if self.seat(who) is not None:
            self._plain_seat(who).online = False

    def rings(self, clock: Clock) -> None:
        """A clock that does not run any more has no effect. That of a turn is the cards' own: see `decided`."""
        if clock not in self.clocks:
            return
        match clock[0]:
            case "count_in":
                self._zero()
            case "seeds":
                self._begin()
            case "kept":
                who = next(
                    plain_seat.who
                    for plain_seat in self.plain_seats
                    if plain_seat.sitting == clock[1] and plain_seat.who is not None
                )
                self._stand_up(who, quits=self.started and self.counts)
            case "vote":
                assert self.vote is not None
                agreed = self.vote.about == "bot"
                self._end_vote(agreed=agreed, pauses=not agreed)

    def void(self) -> None:
        if self.voided:
            return
        self.voided = True
        if self.phase == "refunding":
            return
        if self.phase in ("staking", "settling") or self.pot is not None:
            self._ask_wallet("refunding", Payment("voided"))
        else:
            self.phase = "waiting"

    # The cards.

    def decided(self, seat: int, by: str, *, told_by: str | None) -> None:
        """A decision of a seat was made: by the player who said it, a bot, or the fallback when time was up."""
        plain_seat = self.plain_seats[seat]
        assert self.phase == "playing"
        if told_by is not None:
            assert (by, plain_seat.who) == ("player", told_by)
            if plain_seat.away or plain_seat.bot_plays:
                self._comes_back(told_by)
            plain_seat.expiries = 0
        elif self.a_bot_decides(seat):
            assert by == "bot"
        else:
            assert by == "clock"
            plain_seat.expiries += 1
            plain_seat.bot_plays = plain_seat.expiries >= EXPIRIES

    def round_ended(self, outcome: Outcome) -> None:
        """After its last decision."""
        self.outcome, self.round_is_played = outcome, True
        if outcome.winners:
            self._ask_wallet("settling", self._shares(outcome))
        else:
            self._after_round()

    def _shares(self, outcome: Outcome) -> Payment:
        seats, winners = range(len(self.plain_seats)), outcome.winners
        again = tuple(seat for seat in seats if outcome.pays_again and seat not in winners)
        back = self._bets_back()
        share, rounding = divmod(self.bet * (len(seats) + len(again) - len(back)), len(winners))
        forfeiting = [seat for seat in winners if self.plain_seats[seat].away and not outcome.game_over]
        return Payment(
            "game_ended" if outcome.game_over else "round_ended",
            tuple(share if seat in winners and seat not in forfeiting else 0 for seat in seats),
            again,
            back,
            share * len(forfeiting),
            rounding,
        )

    def _bets_back(self, also: Collection[str | None] = ()) -> tuple[int, ...]:
        assert self.pot is not None
        entitled = {*self.pot.given_up, *also}
        return tuple(seat for seat, payer in enumerate(self.pot.payers) if payer in entitled)

    def _after_round(self) -> None:
        assert self.outcome is not None
        self.phase = "waiting"
        for plain_seat in self.plain_seats:
            if plain_seat.who is not None and not plain_seat.away and plain_seat.bot_rounds >= BOT_ROUNDS:
                plain_seat.idle = True
        if self.outcome.game_over:
            self._end_game(
                "played", [plain_seat.who for plain_seat in self.plain_seats if plain_seat.who and plain_seat.away]
            )
        elif not self.ending:
            for who in self._those_who_left():
                self._stand_up(who, quits=self.counts, in_round=True)

    def _end_game(self, how: str, go: list[str]) -> None:
        self.games.append(how)
        self.game, self.round, self.round_is_played = self.game + 1, 0, True
        self.started = self.in_company = self.counts = self.ending = False
        for plain_seat in self.plain_seats:
            plain_seat.left, plain_seat.only_by_vote, plain_seat.emptied_by = False, False, None
        for who in go:
            self._stand_up(who)

    # The wallet.

    def wallet_says(self, *, done: bool, short: Collection[str] = ()) -> None:
        """The answer to the newest question."""
        payment, self.payment = self.payment, None
        match self.phase:
            case "staking" if done:
                self.pot = Pot(tuple(plain_seat.who for plain_seat in self.plain_seats))
                if self._those_who_left():
                    self._ask_wallet("refunding", Payment("left_while_staking"))
                else:
                    self._deal()
            case "staking":
                self.phase = "waiting"
                for who in [one for one in self.people if one in short]:
                    self._stops_a_count_in(who, stands_up=True)
                self._stand_up_those_who_left_while_staking()
            case "settling":
                assert done
                self._pot_is_gone()
                assert payment is not None
                if payment.purpose in ("round_ended", "game_ended"):
                    self._after_round()
            case "refunding":
                assert done or self.voided
                self._pot_is_gone()
                assert payment is not None
                if payment.purpose == "left_while_staking" and not self.voided:
                    self._stand_up_those_who_left_while_staking()

    def _pot_is_gone(self) -> None:
        self.pot, self.phase = None, "waiting"

    def _stand_up_those_who_left_while_staking(self) -> None:
        for who in self._those_who_left():
            self._stops_a_count_in(who, stands_up=True)

    def _ask_wallet(self, phase: str, payment: Payment) -> None:
        self.phase, self.payment = phase, payment

    # What happens by itself.

    def rest(self) -> None:
        """Until nothing follows any more; then the clocks are looked at."""
        for _ in range(STEPS_MAX):
            if not (self._vote_follows() or self._follows()):
                break
        else:
            raise AssertionError("the model does not come to rest")
        self._culprit, self._company_changed = None, False
        self.clocks = {clock: self.clocks.get(clock, ends) for clock, ends in self._running()}

    def _follows(self) -> bool:
        if self.phase in ("playing", "closed"):
            return False
        if self.phase == "waiting" and (self.voided or self.ending):
            return self._winds_up()
        if self.phase in ("counting_in", "opening_seeds") and (not self.people or not self.full):
            assert self._culprit is not None
            self.phase = "waiting"
            self._stops_a_count_in(self._culprit)
            return True
        if not self.people:
            return self._is_empty()
        if self.plain_seats[self.host].who is None:
            sitting = [
                (plain_seat.sitting, seat)
                for seat, plain_seat in enumerate(self.plain_seats)
                if plain_seat.who is not None
            ]
            self.host, self._company_changed = min(sitting)[1], True
            return True
        if self.phase == "waiting" and self.full and not any(plain_seat.away for plain_seat in self.plain_seats):
            self._start_count_in()
            return True
        if self.phase == "counting_in" and (self.start_wanted or self.ready.issuperset(self.people)):
            self._zero()
            return True
        return False

    def _winds_up(self) -> bool:
        if self.voided:
            if self.started:
                self._end_game("voided", [])
            for who in self.people:
                self._stand_up(who)
            self.phase = "closed"
        elif self.pot is None:
            self._end_game("ended_early", self._those_who_left())
        else:
            back = self._bets_back([None, *self.people])
            forfeit = self.bet * (len(self.plain_seats) - len(back))
            self._ask_wallet("settling" if forfeit else "refunding", Payment("ended_early", back=back, forfeit=forfeit))
        return True

    def _is_empty(self) -> bool:
        if self.phase != "waiting":
            return False
        if self.pot is None:
            self.phase = "closed"
        else:
            back = self._bets_back()
            forfeit = self.bet * (len(self.plain_seats) - len(back))
            self._ask_wallet("settling", Payment("table_closed", back=back, forfeit=forfeit))
        return True

    def _start_count_in(self) -> None:
        self.phase, self.count_ins = "counting_in", self.count_ins + 1
        self.round += self.round_is_played
        self.round_is_played = False
        self.start_wanted = False
        self.ready, self.committed, self.opened = set(), set(), set()

    def _zero(self) -> None:
        away = next((plain_seat.who for plain_seat in self.plain_seats if plain_seat.away), None)
        if away is not None:
            self.phase = "waiting"
            self._stops_a_count_in(away)
        elif self.committed:
            self.phase = "opening_seeds"
        else:
            self._begin()

    def _begin(self) -> None:
        if self.pot is None:
            self.phase = "staking"
        else:
            self._deal()

    def _deal(self) -> None:
        if not self.started:
            self.started = True
            self._note_company()
        self.phase = "playing"
        self.counts = self.counts or self.in_company
        self.stops = {}
        for plain_seat in self.plain_seats:
            plain_seat.bot_rounds = plain_seat.bot_rounds + 1 if plain_seat.bot_plays else 0

    def _running(self) -> Iterator[tuple[Clock, float]]:
        match self.phase:
            case "counting_in":
                yield ("count_in", self.count_ins), self.now + COUNT_IN_SECONDS
            case "opening_seeds":
                yield ("seeds", self.count_ins), self.now + SEEDS_SECONDS
            case "playing":
                yield ("turn", self.game, *self.turn), self.now + self.turn_seconds
            case "waiting":
                seconds = KEPT_IN_GAME_SECONDS if self.started else KEPT_BEFORE_SECONDS
                for plain_seat in self.plain_seats:
                    if plain_seat.away:
                        yield ("kept", plain_seat.sitting, self.started), self.now + seconds
        if self.vote is not None:
            yield ("vote", self.vote.asker), self.vote.ends

    def goes_on(self, before: float) -> None:
        """The same seat decides on, with what it had left, and some seconds at least (CP-16)."""
        turn = next(clock for clock in self.clocks if clock[0] == "turn")
        self.clocks[turn] = max(before, self.now + SAME_TURN_SECONDS)
