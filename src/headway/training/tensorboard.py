"""The curves of a run, for TensorBoard."""

from pathlib import Path

from headway.training.run import Event
from headway.training.steps.trainer import StepReport
from headway.training.validation import ValidationReport


class TensorBoard:
    """Writes the events of a run as TensorBoard event files.

    Args:
        folder: The directory of the event files.
        step: The run's present step; later events of an interrupted run are not shown.
    """

    def __init__(self, folder: Path, step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=step + 1 if step else None)

    def show(self, event: Event) -> None:
        """Write the numbers of a step or of a validation."""
        if isinstance(event, StepReport):
            group, values = "training", vars(event)
        elif isinstance(event, ValidationReport):
            group = "average" if event.averaged > 1 else "validation"
            of_pairs = {f"bleu/{pair}": bleu for pair, bleu in event.bleu_of_pairs.items()}
            values = vars(event) | of_pairs
        else:
            return
        for name, value in values.items():
            if isinstance(value, float):
                self._writer.add_scalar(f"{group}/{name}", value, event.step)

    def close(self) -> None:
        """Write pending events and close the file."""
        self._writer.close()
