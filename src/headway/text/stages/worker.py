"""A worker process of a preparation."""

import errno
import sys
from pathlib import Path

from headway.errors import HeadwayError, is_out_of_memory
from headway.tasks.claims import Claims
from headway.tasks.ledger import Ledger
from headway.tasks.members import Member
from headway.tasks.parent import end_with_standard_input
from headway.tasks.work import work
from headway.text.stages.job import PreparationJob
from headway.text.stages.plan import Plan


def serve(directory: str) -> None:
    """Do tasks until the preparation in this work directory is complete or has failed."""
    end_with_standard_input()
    path = Path(directory)
    plan = Plan.read(path)
    if plan is None:  # the preparation has ended meanwhile
        return
    with Member(path) as member:
        ledger = Ledger(path, member.name)
        job = PreparationJob(plan, ledger, can_read=not plan.reads_standard_input)
        try:
            for _ in work(job, ledger, Claims(path, member)):
                pass
        except HeadwayError as error:
            ledger.record_failure(str(error))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            sys.exit(errno.ENOMEM)
        except (
            OSError
        ) as error:  # not recorded: it is no fault of the text, and a full disk takes no record
            sys.exit(error.errno or 1)
