"""The readers once more, slow and plain, for the fast ones to be compared with; and ways to spoil a file."""

import re
from contextlib import contextmanager
from functools import partial

import numpy as np
from hypothesis import strategies as st

from askance.data.formats import buffer
from askance.data.missing import is_missing
from askance.errors import BadLine, InvalidInput

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
BAD = "bad"


def number(text):
    """A finite number of reasonable size, or None."""
    if NUMBER.fullmatch(text) is None or not abs(float(text)) <= 1e150:
        return None
    return float(text)


def lines(content):
    """The lines of a file: any of the three line ends, a byte order mark left out."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    found = re.split(rb"\r\n|\r|\n", content)
    return found[:-1] if found[-1] == b"" else found


def is_no_text(content):
    """Whether a file begins as UTF-16 or a compressed file does."""
    return content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b\x08", b"\xfd7zXZ\0"))


# --- LIBSVM ----------------------------------------------------------------------------------------------


def libsvm(content, first_index=1):
    """(line number, BAD) or (line number, label, {column: value}) for each line that says something."""
    for place, line in enumerate(lines(content), 1):
        tokens = [token for token in re.split(rb"[ \t]+", line.split(b"#")[0]) if token]
        if tokens:
            yield libsvm_row(place, tokens, first_index)


def libsvm_row(place, tokens, first_index):
    if b":" in tokens[0]:
        return place, BAD
    try:
        label = tokens[0].decode("utf-8")
    except UnicodeDecodeError:
        return place, BAD
    if not label.isprintable() or not all(byte >= 32 for byte in tokens[0]):
        return place, BAD
    row = {}
    for token in tokens[1:]:
        if token.startswith(b"qid:"):
            if re.search(rb"[\x0b\x0c]", token):
                return place, BAD
            continue
        index, colon, value = token.partition(b":")
        value = 0.0 if value and is_missing(value) else number(value.decode("latin-1"))
        if not (re.fullmatch(rb"[0-9]+", index) and colon and value is not None):
            return place, BAD
        if not first_index <= int(index) <= 2**31 - 3:
            return place, BAD
        column = int(index) - first_index
        row[column] = row.get(column, 0.0) + value
    if any(abs(value) > 1e150 for value in row.values()):
        return place, BAD
    return place, label, {column: value for column, value in row.items() if value != 0.0}


# --- CSV -------------------------------------------------------------------------------------------------


def csv(content, n_cells, delimiter=",", quote='"'):
    """(line number, BAD) or (line number, cells) for each record; None if a zero byte or the like is in it."""
    content = content.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    place, line = 0, 1
    while place < len(content):
        cells, end = csv_record(content, place, delimiter, quote)
        if cells is None:  # leave out one line
            end = re.compile(r"\r\n|\r|\n|\Z").search(content, place).end()
            yield line, BAD
        elif re.compile(csv_blank(delimiter)).match(content, place) is None:
            cells = [csv_text(cell) for cell in cells]
            yield (line, BAD) if len(cells) != n_cells or None in cells else (line, cells)
        line += len(re.findall(r"\r\n|\r|\n", content[place:end]))
        place = end


def csv_blank(delimiter):
    """A line with nothing but blanks."""
    return "[%s]*(\r|\n|\\Z)" % " \t".replace(delimiter, "")  # noqa: UP031


def csv_text(cell):
    try:
        return cell.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return None


def csv_record(content, place, delimiter, quote):
    """The cells of the record at a place, and where it ends; None for the cells if it cannot be split."""
    cells = []
    blanks = " \t".replace(delimiter, "")
    while True:
        while place < len(content) and content[place] in blanks:
            place += 1
        if quote and content[place : place + 1] == quote:
            quoted = re.compile(f"{quote}((?:[^{quote}]|{quote}{quote})*){quote}(?!{quote})").match(content, place)
            if quoted is None or "\0" in quoted[1]:
                return None, None
            cell, place = quoted[1].replace(quote * 2, quote), quoted.end()
            while place < len(content) and content[place] in blanks:
                place += 1
            if place < len(content) and content[place] not in delimiter + "\r\n":
                return None, None
        else:
            cell = re.compile(f"[^\r\n{re.escape(delimiter)}]*").match(content, place)[0]
            place += len(cell)
            if "\0" in cell:
                return None, None
            cell = cell.rstrip(blanks)
        cells.append(cell)
        if place < len(content) and content[place] == delimiter:
            place += 1
            continue
        end = re.compile(r"\r\n|\r|\n|\Z").match(content, place)
        return cells, end.end()


# --- features --------------------------------------------------------------------------------------------


def column_of(field, value, bits=18):
    from sklearn.utils import murmurhash3_32

    seed = murmurhash3_32(field.encode(), seed=0, positive=True)
    return murmurhash3_32(value.encode("utf-8", "surrogatepass"), seed=seed, positive=True) % 2**bits


def category_column(field, value, bits=18):
    return column_of(field, "" if is_missing(value) else value, bits)


def ngrams(text, longest=2):
    tokens = re.findall(r"\w+", text.lower())
    for first in range(len(tokens)):
        for length in range(1, min(longest, len(tokens) - first) + 1):
            yield " ".join(tokens[first : first + length])


# --- errors ---------------------------------------------------------------------------------------------


@contextmanager
def clear_errors():
    """Allow errors of ours, if they are one sentence on one line."""
    try:
        yield
    except (BadLine, InvalidInput) as error:
        if "\n" in str(error) or len(str(error)) > 500:
            raise AssertionError("the error is no sentence for people") from error


# --- what a stream gave ----------------------------------------------------------------------------------


def played(stream):
    """All rows of a stream, as {column: value}, with their labels."""
    rows, labels = [], []
    for batch in stream:
        assert batch.first_row == len(rows)
        X = batch.X
        assert X.data.dtype == np.float64
        assert X.indices.dtype == np.int32
        assert X.has_canonical_format
        for row in range(X.shape[0]):
            part = slice(X.indptr[row], X.indptr[row + 1])
            assert (np.diff(X.indices[part]) > 0).all()
            assert (X.data[part] != 0).all()
            assert X.indices[part].max(initial=-1) < X.shape[1]
            rows.append(dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)))
        labels += [None] * X.shape[0] if batch.y is None else batch.y.tolist()
    assert stream.rows_read == len(rows)
    return rows, labels


# --- pieces ---------------------------------------------------------------------------------------------


def use_pieces(patch, size):
    """Read files in such pieces, and look only at the first of them before."""
    patch.setattr(buffer, "PIECE", size)
    patch.setattr(buffer, "SAMPLE", min(size, buffer.SAMPLE))


# --- spoiling --------------------------------------------------------------------------------------------

JUNK = st.one_of(
    st.binary(max_size=8),
    st.sampled_from(
        [b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b":", b"#", b"\t", b"nan",
         b"inf", b"1e999", b"-", b"9" * 400, b"1e-999", b"{", b"}", b"[", b"\\", b"%", b"?", b" ", b"\xc3", b"e", b"."]
    ),
)  # fmt: skip


@st.composite
def spoiled(draw, contents):
    """A file to which something happened: cut off, joined, with junk, with other line ends."""
    content = draw(contents)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(content)))
        what = draw(st.sampled_from(["cut", "insert", "overwrite", "drop", "line ends"]))
        junk = draw(JUNK)
        if what == "cut":
            content = content[:place]
        elif what == "insert":
            content = content[:place] + junk + content[place:]
        elif what == "overwrite":
            content = content[:place] + junk + content[place + len(junk) :]
        elif what == "drop":
            content = content[:place] + content[place + draw(st.integers(0, 20)) :]
        else:
            ends = draw(st.sampled_from([b"\r\n", b"\r", b"\n\n"]))
            content = content[:place] + content[place:].replace(b"\n", ends)
    return content


ODD_NUMBERS = ["0", "-0", "+1", ".5", "5.", "1e3", "1E-3", "0.1", "1e-320", "00012", "1" * 25, "0." + "3" * 40]


def numbers_as_text():
    plain = st.one_of(
        st.integers(-(10**6), 10**6).map(str),
        st.floats(-1e6, 1e6, allow_nan=False).map(repr),
        st.floats(allow_nan=False, allow_infinity=False, min_value=-1e150, max_value=1e150).map(repr),
        st.decimals(-1000, 1000, places=3).map(str),
        st.sampled_from(ODD_NUMBERS),
    )
    return plain.filter(partial(re.fullmatch, NUMBER))
