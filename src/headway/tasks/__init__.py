"""Work that several processes share: tasks, a ledger of their results, claims, worker processes."""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.tasks.parent import end_with_standard_input


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
