"""What a user may choose about a source of events, from the command line to the reader of its format."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from askance.errors import InvalidParameter

if TYPE_CHECKING:
    from askance.data.missing import MissingValues

BATCH_ROWS = 8192


@dataclass(frozen=True)
class ReadOptions:
    """How a source is read.

    Parameters
    ----------
    format : str, optional
        "libsvm", "csv", "tsv", "jsonl", "arff", "npz", "parquet", "vw" or "feather". Default: detected by the name or
        the content.
    label : str, int or False, optional
        The field with the label, by name or by number. False: there is none. Default: the field called ``label``,
        ``y``, ``class`` or ``target``, or the last one of a table.
    labels : "int", "float" or "text", optional
        What the labels are. Default: detected by the first ones.
    classes : sequence of labels, optional
        Labels there are: a word such as "NA", which otherwise marks a missing label, is a class if named here.
    label_separator : str, optional
        Labels are sets, written with this between the labels: the label of a row is then that text. A JSON list of
        labels becomes such a text, an empty one the empty text.
    features : mapping, optional
        Kinds of fields, by name: "number", "category", "text", "date", "ignore" or "time" (when the event came, for
        budgets by time; nothing is learned from it). The others are guessed from the first 1000 lines.
    batch_rows : int, default 8192
        Rows in a batch; a batch with very many values ends earlier. Batches do not change what is learned.
    skip_bad_lines : bool, default False
        Leave out, and count, lines that cannot be read, instead of raising ``BadLine``.
    quarantine : path, optional
        Write the lines that cannot be read to this file, each with the reason, instead of raising ``BadLine``. Such a
        file can be opened as a stream itself.
    hash_bits : int, default 18
        Categories and words share ``2**hash_bits`` columns.
    ngrams : int, default 2
        Words of a text are counted singly and with their neighbors, up to so many together.
    raw : bool, default False
        Scale nothing. Otherwise numbers are standardized by running statistics, texts and sparse rows have unit length.
    na_values : str, number, or list of them, optional
        Of rows with named fields: words and numbers that count as missing in every field and in the label, besides the
        usual words (``askance.data.missing`` has them) and those of ``state``. A number matches however it is written.
    header : bool, optional
        Of CSV files: whether the first line has names. Default: detected.
    delimiter : str, optional
        Of CSV files: what separates cells. Default: detected.
    quote : str, optional
        Of CSV files: what encloses cells with delimiters or line ends inside; "" for nothing. Default: a double quote.
    zero_based : bool, optional
        Of LIBSVM files: whether indices count from 0. Default: detected by the first lines.
    encoding : str, optional
        Of text: what it is written in, such as "latin-1". Default: UTF-8.
    origins : bool, default False
        Tell in ``batch.origins`` where each row comes from: its line, its ``id``, and of a folder its file.
    keep_rows : bool, default False
        Have the fields of each row, as they are read, in ``batch.rows``.
    frozen : bool, default False
        Only look at the rows, with ``state`` as it is, to predict them: numbers are scaled as if each came next, fields
        that the state does not know are left out, and the label may be missing.
    state : mapping, optional
        What ``Stream.state()`` gave: go on with the same columns and statistics. Rows with named fields may come in
        another format than those that the state is of.
    """

    format: str | None = None
    label: str | int | bool | None = None
    labels: str | None = None
    classes: Sequence[Any] | None = None
    label_separator: str | None = None
    features: Mapping[str, str] | None = None
    batch_rows: int = BATCH_ROWS
    skip_bad_lines: bool = False
    quarantine: str | os.PathLike[str] | None = None
    hash_bits: int = 18
    ngrams: int = 2
    raw: bool = False
    na_values: Any = None
    header: bool | None = None
    delimiter: str | None = None
    quote: str | None = None
    zero_based: bool | None = None
    encoding: str | None = None
    origins: bool = False
    keep_rows: bool = False
    frozen: bool = False
    state: Mapping[str, Any] | None = None

    def check(self) -> None:
        """Refuse what cannot work."""
        if not isinstance(self.batch_rows, int) or isinstance(self.batch_rows, bool) or self.batch_rows < 1:
            raise InvalidParameter(f"batch_rows must be a whole number of 1 or more, got {self.batch_rows!r}.")
        if self.label is True or not isinstance(self.label, str | int | None):
            raise InvalidParameter(
                f"label must be the name or the number of a field, or False for none, got {self.label!r}."
            )
        if self.header not in (None, True, False):
            raise InvalidParameter(f"header must be True, False, or None to detect it, got {self.header!r}.")

    @property
    def leaves_out_bad_lines(self) -> bool:
        """Whether a line that cannot be read is no error."""
        return self.skip_bad_lines or self.quarantine is not None

    def missing_values(self) -> MissingValues:
        """What counts as missing: the usual words, those of the state, and those chosen here."""
        from askance.data.missing import MissingValues  # which needs numpy, and help does not

        return MissingValues((self.state or {}).get("na_values")).with_more(self.na_values)


def change(options: ReadOptions, **changes: Any) -> ReadOptions:
    """The same options but for some.

    >>> change(ReadOptions(), lable="spam")
    Traceback (most recent call last):
    TypeError: open_stream() has no option 'lable'. Did you mean 'label'?
    """
    names = [field.name for field in fields(ReadOptions)]
    for name in changes:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            raise TypeError(f"open_stream() has no option {name!r}.{f' Did you mean {close[0]!r}?' if close else ''}")
    return replace(options, **changes)
