"""Answers other than 200: a status, one line for the client, and headers."""

import logging
from collections.abc import Mapping

from headway.errors import HeadwayError

log = logging.getLogger("headway.ext.server")
FAILED = "Internal Server Error"  # the message of 500; the log has the reason
CLIENT_LEFT = 499  # the client has disconnected: only the log shows this status


class Rejection(Exception):
    """A request that is not answered as it asks; the client gets ``{"error": message}``.

    Args:
        status: HTTP status.
        message: One line; never a key of the client, and of its fields a few words at most.
        headers: Sent with the answer.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


def client_left() -> Rejection:
    """Return the rejection that stops the work on a request when its client has disconnected."""
    return Rejection(CLIENT_LEFT, "The client left")


def missing_field(name: str) -> Rejection:
    """Return the rejection of a request without a required field."""
    return Rejection(400, f"Invalid request: missing {name} parameter")


def too_long(size: int, limit: int) -> Rejection:
    """Return the rejection of a text with too many characters or a list with too many texts."""
    return Rejection(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")


def overloaded(seconds: int) -> Rejection:
    """Return the rejection of a request that would wait too long.

    Args:
        seconds: Time after which the client should try again.
    """
    headers = {"Retry-After": str(seconds)}
    return Rejection(429, "Too many requests at once, try again later", headers)


def too_much_work() -> Rejection:
    """Return the rejection of a text or a file that takes too much work beside its translation, such as a search for terms."""
    return Rejection(
        413,
        "This takes too much work: send less text at once, with fewer placeholders, tags or terms of a glossary",
    )


def reject(error: Exception) -> Rejection:
    """Return the answer to a request that has failed; if the request was right, the reason is logged."""
    if isinstance(error, Rejection):
        return error
    if isinstance(error, HeadwayError):
        log.error("cannot translate: %s", error)
        return Rejection(500, str(error).splitlines()[0])
    # The message of the exception may hold a text: the log gets its type and place.
    log.error("%s at %s", type(error).__name__, find_place(error))
    return Rejection(500, FAILED)


def find_place(error: BaseException) -> str:
    """Return the file and the line at which an exception was raised, for the log: its message may hold a text."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
