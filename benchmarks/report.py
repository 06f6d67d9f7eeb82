"""Rows of results, as a table in the terminal and as ``RESULTS.md``."""

from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape
from rich.table import Table

MISSED, REACHED = "missed", "reached"


@dataclass(frozen=True)
class Row:
    """One measured fact. ``target`` is empty where there is nothing to reach."""

    what: str
    measured: str
    target: str = ""
    is_reached: bool | None = None
    remark: str = ""

    @property
    def verdict(self) -> str:
        if self.is_reached is None:
            return ""
        return REACHED if self.is_reached else MISSED


def at_least(what: str, value: float, target: float, unit: str, remark: str = "") -> Row:
    return Row(what, f"{figure(value)}{unit}", f"≥ {figure(target)}{unit}", value >= target, remark)


def at_most(what: str, value: float, target: float, unit: str, remark: str = "") -> Row:
    return Row(what, f"{figure(value)}{unit}", f"≤ {figure(target)}{unit}", value <= target, remark)


def figure(value: float) -> str:
    """Three digits that count, with thousands marked: 0.812, 15.3, 25,000."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.3g}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def speed(events: int, seconds: float) -> str:
    """Events a second, in the unit that reads best."""
    rate = events / seconds
    return f"{figure(rate / 1e6)} M/s" if rate >= 1e6 else f"{figure(rate / 1e3)} k/s"


@dataclass
class Section:
    """What one benchmark found: rows, how it was done, and what could not be measured here."""

    title: str
    how: str
    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def skip(self, what: str, reason: object) -> None:
        self.skipped.append(f"{what}: {reason}")


def print_section(console: Console, section: Section) -> None:
    table = Table(title=section.title, title_justify="left", title_style="bold")
    table.add_column("what", overflow="fold")
    table.add_column("measured", justify="right")
    table.add_column("target", justify="right")
    table.add_column("")
    table.add_column("remark", overflow="fold", style="dim")
    for row in section.rows:
        verdict = {REACHED: "[green]reached[/]", MISSED: "[red]missed[/]", "": ""}[row.verdict]
        table.add_row(row.what, row.measured, row.target, verdict, row.remark)
    console.print(table if section.rows else f"[bold]{escape(section.title)}[/]")
    for reason in section.skipped:
        console.print(f"[yellow]skipped[/] {escape(reason)}")
    console.print()


def count_targets(sections: list[Section]) -> tuple[int, int, list[str]]:
    """How many targets were reached, how many there are, and the rows that missed theirs."""
    rows = [(section, row) for section in sections for row in section.rows if row.is_reached is not None]
    missed = [f"{section.title}: {row.what}" for section, row in rows if not row.is_reached]
    return len(rows) - len(missed), len(rows), missed


def as_markdown(sections: list[Section], header: list[str]) -> str:
    reached, total, missed = count_targets(sections)
    lines = ["# What was measured", "", *header, "", f"**{reached} of {total} targets reached.**"]
    if missed:
        lines += ["", "Missed:", "", *[f"- {row}" for row in missed]]
    for section in sections:
        lines += ["", f"## {section.title}", "", section.how, ""]
        if section.rows:
            lines += ["| | measured | target | | |", "|---|--:|--:|---|---|"]
            for row in section.rows:
                cells = [row.what, row.measured, row.target, row.verdict, row.remark]
                if row.verdict:
                    cells[1] = f"**{row.measured}**"
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines += [line for reason in section.skipped for line in ("", f"Skipped: {reason}")]
    return "\n".join(lines) + "\n"
