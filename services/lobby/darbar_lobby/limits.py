"""Who may ask how often. Open this about `too_many_requests`."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from darbar_contracts.refusals import Reason
from darbar_kit.errors import Refused
from darbar_kit.limits import KEYS_MAX, Clock, Rate, TooManyRequests
from darbar_lobby.domain.guesses import Guesser, GuessPolicy, guess_answered, guess_begun, wait_before_guess

REQUESTS_A_MINUTE_BY_ACCOUNT = 300
TABLES_MADE_A_MINUTE_BY_ACCOUNT = 10
NAMES_REPORTED_AN_HOUR_BY_ACCOUNT = 20
SIGN_INS_A_MINUTE_BY_ADDRESS = 20
MINUTE_SECONDS = 60.0
HOUR_SECONDS = 3600.0
FORGOTTEN_SECONDS = 900.0

CODES_WRONG = GuessPolicy(free=3, wait_seconds=5.0, wait_seconds_max=60.0, forgotten_seconds=FORGOTTEN_SECONDS)
# Of one account, from one address: nobody can keep the owner, who is elsewhere, from signing in.
PASSWORDS_WRONG = GuessPolicy(free=3, wait_seconds=2.0, wait_seconds_max=300.0, forgotten_seconds=FORGOTTEN_SECONDS)
# Of any account. Many people may share an address: they are slowed down, never kept out.
PASSWORDS_WRONG_BY_ADDRESS = GuessPolicy(
    free=10, wait_seconds=1.0, wait_seconds_max=15.0, forgotten_seconds=FORGOTTEN_SECONDS
)
# Of one administrator, whoever tries: the password was right.
CODES_OF_ADMINISTRATORS = GuessPolicy(
    free=5, wait_seconds=30.0, wait_seconds_max=900.0, forgotten_seconds=FORGOTTEN_SECONDS
)


class Guesses:
    """Wrong guesses at a secret, for each key."""

    def __init__(self, name: str, policy: GuessPolicy, *, clock: Clock, keys_max: int = KEYS_MAX) -> None:
        self.name = name
        self._policy = policy
        self._clock = clock
        self._keys_max = keys_max
        # The one who has guessed least lately goes first when it is full.
        self._guessers: OrderedDict[str, Guesser] = OrderedDict()

    def __len__(self) -> int:
        return len(self._guessers)

    @property
    def keys(self) -> Sequence[str]:
        """Who is remembered, the one who has guessed least lately first."""
        return list(self._guessers)

    @contextmanager
    def guess(self, key: str, *, wrong: Reason) -> Iterator[None]:
        """Around what answers a guess; a refusal with `wrong` says that it was wrong. Raises TooManyRequests."""
        self._begin(key)
        is_wrong = False
        try:
            yield
        except Refused as refused:
            is_wrong = refused.code == wrong
            raise
        finally:
            self._keep(key, guess_answered(self._of(key), self._policy, now=self._clock(), is_wrong=is_wrong))

    def _begin(self, key: str) -> None:
        guesser = self._of(key)
        wait_seconds = wait_before_guess(guesser, self._policy, now=self._clock())
        if wait_seconds > 0:
            raise TooManyRequests(self.name, wait_seconds)
        self._keep(key, guess_begun(guesser))

    def _of(self, key: str) -> Guesser:
        return self._guessers.get(key) or Guesser(last_at=-math.inf)

    def _keep(self, key: str, guesser: Guesser) -> None:
        if guesser.wrong or guesser.undecided:
            self._guessers[key] = guesser
            self._guessers.move_to_end(key)
        else:
            self._guessers.pop(key, None)
        if len(self._guessers) > self._keys_max:
            self._guessers.popitem(last=False)


class Limits:
    """Every limit of the lobby, each with its own keys."""

    def __init__(
        self, *, guests_an_hour_max: int, requests_a_minute_max: int, code_lookups_a_minute_max: int, clock: Clock
    ) -> None:
        self.guests = Rate("guests", guests_an_hour_max, HOUR_SECONDS, clock=clock)
        self.by_address = Rate("requests_by_address", requests_a_minute_max, MINUTE_SECONDS, clock=clock)
        self.by_account = Rate("requests_by_account", REQUESTS_A_MINUTE_BY_ACCOUNT, MINUTE_SECONDS, clock=clock)
        self.tables_made = Rate("tables_made", TABLES_MADE_A_MINUTE_BY_ACCOUNT, MINUTE_SECONDS, clock=clock)
        self.sign_ins = Rate("sign_ins", SIGN_INS_A_MINUTE_BY_ADDRESS, MINUTE_SECONDS, clock=clock)
        self.names_reported = Rate("names_reported", NAMES_REPORTED_AN_HOUR_BY_ACCOUNT, HOUR_SECONDS, clock=clock)
        self.code_lookups = Rate("code_lookups", code_lookups_a_minute_max, MINUTE_SECONDS, clock=clock)
        self.codes_wrong = Guesses("codes_wrong", CODES_WRONG, clock=clock)
        self.codes_of_administrators = Guesses("codes_of_administrators", CODES_OF_ADMINISTRATORS, clock=clock)
        self.passwords_wrong = Guesses("passwords_wrong", PASSWORDS_WRONG, clock=clock)
        self.passwords_wrong_by_address = Guesses("passwords_wrong_by_address", PASSWORDS_WRONG_BY_ADDRESS, clock=clock)

    @property
    def all(self) -> Sequence[Rate | Guesses]:
        return [limit for limit in vars(self).values() if isinstance(limit, Rate | Guesses)]

    @contextmanager
    def password(self, address: str, whose: str) -> Iterator[None]:
        """Around a try of a password; `whose` is an account's id or a login name, empty for what can be neither."""
        with ExitStack() as stack:
            wrong = Reason.CREDENTIALS_WRONG
            stack.enter_context(self.passwords_wrong_by_address.guess(address, wrong=wrong))
            stack.enter_context(self.passwords_wrong.guess(f"{whose} {address}", wrong=wrong))
            yield
