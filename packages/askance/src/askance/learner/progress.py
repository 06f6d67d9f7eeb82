"""How far ``run`` is: a bar in a terminal, and one in a notebook, which needs no package of widgets."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType
from typing import Any, Protocol, Self

from askance.plural import format_count

UPDATES = 100  # of a bar, at most, for so many pieces of a stream
LEAST_EVENTS = 500  # in a piece: less would cost time


class BarDisplay(Protocol):
    """Where a bar is shown."""

    def show(self, share: float | None, facts: str) -> None:
        """Show how much is done, from 0 to 1, if that is known, and what there is to say."""

    def end(self) -> None:
        """Nothing more will be shown."""


class ProgressBar:
    """Counts the events that were played and the labels that were bought, and shows them.

    On standard error, if that is a terminal; below the cell, in a notebook; elsewhere, such as in a log, nowhere.

    Parameters
    ----------
    total : int, optional
        How many events there are; None where nobody knows before the last.
    """

    def __init__(self, total: int | None = None) -> None:
        self.events = self.labels = 0
        self.total = total
        self._display: BarDisplay | None = None

    def __enter__(self) -> Self:
        from rich.console import Console

        console = Console(stderr=True, highlight=False)
        if console.is_jupyter:
            self._display = InNotebook()
        elif console.is_terminal:
            self._display = InTerminal(console)
        self._began = perf_counter()
        self._show("reading the events")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._display is not None:
            if kind is None:
                self.total = self.events
                self._show()
            self._display.end()

    def events_at_once(self, n_events: int) -> int:
        """How many events to play before the bar moves on."""
        return max(LEAST_EVENTS, n_events // UPDATES)

    def advance(self, events: int, labels: int) -> None:
        """So many more events were played, and so many labels bought for them."""
        self.events += events
        self.labels += labels
        self._show()

    def _show(self, facts: str | None = None) -> None:
        if self._display is None:
            return
        if facts is None:
            speed = self.events / max(perf_counter() - self._began, 1e-9)
            facts = f"{format_count(self.events, 'event')}, {format_count(self.labels, 'label')}, {speed:,.0f} events/s"
        self._display.show(None if self.total is None else self.events / max(1, self.total), facts)


class InTerminal:
    """A bar of rich's."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = TextColumn("playing"), BarColumn(bar_width=24), TaskProgressColumn(), TextColumn("{task.description}")
        self._bar = Progress(*columns, console=console)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def show(self, share: float | None, facts: str) -> None:
        total = None if share is None else 1.0
        self._bar.update(self._task, total=total, completed=share or 0.0, description=facts)

    def end(self) -> None:
        self._bar.stop()


class InNotebook:
    """A bar of HTML below the cell, which stays there in the end."""

    def __init__(self) -> None:
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        self._display, self._id = display, None

    def show(self, share: float | None, facts: str) -> None:
        value = "" if share is None else f' value="{share:.3f}"'
        percent = "" if share is None else f"{share:.0%}, "
        content = {
            "text/html": f'<div><progress max="1"{value} style="width: 16em"></progress> {percent}{facts}</div>',
            "text/plain": f"{percent}{facts}",
        }
        if self._id is None:
            self._id = self._display(content, raw=True, display_id=True)
        else:
            self._id.update(content, raw=True)

    def end(self) -> None:
        """The last picture stays."""
