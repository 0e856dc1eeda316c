"""What a table says beside the cards: phrases, announcements, voice notes. It has no version and never comes again."""

from __future__ import annotations

from collections import deque

from darbar_contracts.frames import Announced, MicrophoneHeld, NoteReady, Said, UploadTicketGiven

# Of the phrases that were said, a socket keeps the newest.
PHRASES_KEPT_MAX = 32
NOTES_KEPT_MAX = 20

Word = Said | Announced | MicrophoneHeld | UploadTicketGiven | NoteReady


class Heard:
    """`microphone`: the seat of whoever records just now. `ticket`: of the own recording, until it is sent."""

    def __init__(self) -> None:
        self.said: deque[Said] = deque(maxlen=PHRASES_KEPT_MAX)
        self.announcement: str | None = None
        self.microphone: int | None = None
        self.ticket = ""
        self.notes: deque[NoteReady] = deque(maxlen=NOTES_KEPT_MAX)

    def take(self, word: Word) -> None:
        """One frame of the table."""
        match word:
            case Said():
                self.said.append(word)
            case Announced():
                self.announcement = word.text
            case MicrophoneHeld():
                self.microphone = word.seat
            case UploadTicketGiven():
                self.ticket = word.ticket
            case NoteReady():
                self.notes.append(word)
