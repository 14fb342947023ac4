"""Why a request is not answered as it asks."""

from collections.abc import Mapping

LEFT = 499  # the client left: nobody reads it but the log


class Refusal(Exception):
    """An answer other than 200: its message goes to the client as ``{"error": message}``.

    Args:
        status: 400 for what is wrong with the request, 429 and 503 for what is wrong with its time.
        message: One line; never a text or a key of the client.
        headers: Sent with it.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})


def missing(name: str) -> Refusal:
    """A required field is absent or empty."""
    return Refusal(400, f"Invalid request: missing {name} parameter")


def too_long(size: int, limit: int) -> Refusal:
    """A text has too many characters, or a list too many texts."""
    return Refusal(400, f"Invalid request: request ({size}) exceeds text limit ({limit})")


def busy(seconds: int) -> Refusal:
    """There is more work than can be done in time.

    Args:
        seconds: After which it is worth trying again.
    """
    return Refusal(429, "Too many requests at once, try again later", {"Retry-After": str(seconds)})
