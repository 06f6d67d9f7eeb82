"""Files that workers read: the rows, the decisions and the model of one process, bit for bit, whoever is killed."""

import csv
import gzip
import json
import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from tests.cli.here import complaint, here
from tests.engines.in_this_process import InThisProcess, posix
from tests.learner.test_sifting import assert_same

from askance.data import open_stream
from askance.data.formats import pieces
from askance.engines import local, make_engine
from askance.errors import AskanceError, BadLine, InvalidInput
from askance.learner.delayed_updates import round_size
from askance.runner import run_file
from askance.runner.algorithm_spec import AlgorithmSpec
from askance.runner.model import Model
from askance.runner.shared_reading import SharedReader

N_ROWS = 1_600
WORDS = [f"word{k}" for k in range(60)]


def rows(n_rows=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    for number in range(n_rows):
        label = int(rng.integers(2))
        text = " ".join(rng.choice(WORDS[30 * label : 30 * label + 40] if label == 0 else WORDS[20:], 5))
        size = round(float(rng.normal() + label), 4)
        yield {"id": number, "text": text, "size": size, "city": str(rng.choice(["Oslo", "Lima"])), "label": label}


def write(folder, name, made=None):
    """A file of each format."""
    path, made = folder / name, list(made or rows())
    kind = name.split(".")[1]
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet")
        import pyarrow

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(made), path, row_group_size=700)
    elif kind == "libsvm":
        lines = (f"{row['label']} {len(row['text'])}:{row['size']} 90:1 # {row['id']}\n" for row in made)
        path.write_text("".join(lines))
    elif kind == "jsonl":
        opened = gzip.open(path, "wt") if name.endswith("gz") else open(path, "w")  # noqa: SIM115
        with opened as file:
            file.write("".join(json.dumps(row) + "\n" for row in made))
    elif name.endswith("json"):
        path.write_text(json.dumps(made))
    else:
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, made[0], lineterminator="\r\n")
            writer.writeheader()
            for row in made:  # some texts have a comma, and some a line end: these stand in quotes
                number = row["id"]
                text = row["text"].replace(" ", ",\n" if number % 7 == 0 else " ", 1)
                writer.writerow(row | {"text": text if 500 < number < 900 else row["text"]})
    return path


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr("askance.data.formats.pieces.PIECE_BYTES", 9_000)
    monkeypatch.setattr("askance.data.formats.csv.PIECE_BYTES", 9_000)
    monkeypatch.setattr("askance.data.formats.pieces.PIECE_ROWS", 300)


def whole(stream, batches):
    """All that comes of a stream."""
    found = list(batches)
    width = max(batch.X.shape[1] for batch in found)
    X = sp.vstack([batch.to_width(width) for batch in found]).tocsr()
    origins = {name: np.concatenate([batch.origins[name] for batch in found]).tolist() for name in found[0].origins}
    first_rows = np.cumsum([0, *(batch.X.shape[0] for batch in found)])[:-1].tolist()
    assert [batch.first_row for batch in found] == first_rows
    bad = stream.bad_lines, stream.bad_line_examples
    y = np.concatenate([batch.y for batch in found]).tolist()
    return X.indptr.tolist(), X.indices.tolist(), X.data.tolist(), y, origins, str(stream.state()), bad


def read_all_ways(source, **options):
    """A stream as it is, in pieces, and parsed by copies; and the engine of the last."""
    found, engine = [], InThisProcess(lost=[2, 5, 6])
    for make in (iter, lambda stream: iter(SharedReader(stream)), lambda stream: iter(SharedReader(stream, engine))):
        with open_stream(source, origins=True, **options) as stream:
            found.append(whole(stream, make(stream)))
    assert found[0] == found[1] == found[2]
    return found[0], engine


FILES = ["a.csv", "a.jsonl", "a.jsonl.gz", "a.json", "a.libsvm", "a.parquet"]


@pytest.mark.parametrize("name", FILES)
def test_copies_of_a_stream_read_what_the_stream_reads(name, tmp_path):
    _, engine = read_all_ways([write(tmp_path, name), write(tmp_path, f"b{name[1:]}", rows(seed=1))])
    assert engine.sent > 10
    assert engine.refused == 0


def test_raw_rows_and_sparse_rows_of_unit_length_are_read_alike(tmp_path):
    read_all_ways(write(tmp_path, "a.csv"), raw=True)
    lines = (f"{k % 2} {k % 89 + 1}:1 {k % 1500 + 90}:1\n" for k in range(2_000))
    (tmp_path / "words.svm").write_text("".join(lines))
    read_all_ways(tmp_path / "words.svm")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_what_changes_the_fields_is_read_by_the_stream_itself(name, tmp_path):
    made = list(rows())
    for row in made[1_200:1_230]:
        row["city"] = "a small town with a long name by the sea, and more words than a category has"
    for row in made[1_100:]:
        row["size" if name != "a.parquet" else "weight"] = "large" if name == "a.csv" else 2.5
    for row in made[:1_100] if name == "a.parquet" else ():
        row["weight"] = None
    if name == "a.jsonl":
        made[1_050]["late"] = 3
        made[1_051]["late"] = "three"
    _, engine = read_all_ways(write(tmp_path, name, made), **({"skip_bad_lines": True} if name == "a.csv" else {}))
    assert engine.refused > 0 or name == "a.parquet"


def test_bad_lines_are_told_with_their_numbers(tmp_path):
    path = write(tmp_path, "a.csv")
    lines = path.read_text("utf-8-sig").splitlines(keepends=True)
    lines[700] = "only,two\r\n"
    lines[1_400] = lines[1_400].replace(",", ',x"', 1)
    path.write_text("".join(lines))
    found, _ = read_all_ways(path, skip_bad_lines=True)
    assert found[-1][0] == 1
    assert "line 701" in found[-1][1][0]
    with open_stream(path) as stream, pytest.raises(BadLine, match="line 701"):
        list(SharedReader(stream, InThisProcess()))


def test_a_worker_that_cannot_see_a_file_says_so(tmp_path):
    piece = pieces.TextPiece(0, str(tmp_path / "nowhere.csv"), 0, 10)
    with pytest.raises(InvalidInput, match="a worker cannot read .*nowhere.csv.*; every worker needs the files"):
        piece.load()


def test_a_piece_that_always_kills_its_worker_ends_the_run_with_a_sentence(tmp_path):
    engine = InThisProcess(lost=range(3, 100))
    with open_stream(write(tmp_path, "a.jsonl")) as stream, pytest.raises(AskanceError, match="was killed 4 times"):
        list(SharedReader(stream, engine))


# --- played ----------------------------------------------------------------------------------------------

SPEC = AlgorithmSpec("SOAL-diag", {}, 0.1, intercept=True, random_state=4)


def saved(source, folder, name="one.model", **options):
    """The bytes of the model that a run saves."""
    run_file(source, options.pop("spec", SPEC), save=folder / name, **options)
    return (folder / name).read_bytes()


def test_at_once_the_model_is_that_of_a_run_without_workers(tmp_path):
    source = [str(write(tmp_path, "a.jsonl"))]
    plain = saved(source, tmp_path)
    assert saved(source, tmp_path, engine=InThisProcess(), in_rounds=False) == plain
    assert saved(source, tmp_path, engine=InThisProcess()) != plain


def test_a_class_that_comes_late_begins_the_run_anew(tmp_path):
    made = list(rows())
    for row in made[1_300:]:
        row["label"] += row["id"] % 2
    source = str(write(tmp_path, "a.jsonl", made))
    spec = AlgorithmSpec("MPAA-I", {}, 0.1)
    plain = run_file(source, spec)
    assert len(plain.totals.classes) == 3
    shared = run_file(source, spec, engine=InThisProcess(), in_rounds=False)
    assert shared.restarted
    assert_same(shared.model.classifier, plain.model.classifier)


@pytest.mark.parametrize("spec", [SPEC, AlgorithmSpec("auto", {}, 0.1, random_state=1)], ids=["SOAL-diag", "auto"])
def test_in_rounds_the_model_is_that_of_ask_and_of_tell_at_the_ends_of_rounds(spec, tmp_path):
    source = [str(write(tmp_path, "a.csv")), str(write(tmp_path, "b.csv", rows(seed=1)))]
    told = spec.make([0, 1], positive=1)
    with open_stream(source) as stream:
        for batch in SharedReader(stream):  # the end of a piece ends a round
            waiting, left = [], round_size(told.events_seen_)
            for t in range(batch.X.shape[0]):
                decision = told.ask(batch.X[t])
                waiting += [(decision.ticket, batch.y[t])] if decision.asked else []
                left -= 1
                if left == 0 or t == batch.X.shape[0] - 1:
                    for ticket, label in waiting:
                        told.tell(ticket=ticket, y=label)
                    waiting, left = [], round_size(told.events_seen_)
    sifted = run_file(source, spec, engine=InThisProcess()).model.classifier
    assert_same(sifted, told)
    assert sifted.labels_asked_ == told.labels_asked_ > 0


def test_the_ceiling_of_a_budget_is_kept_to_the_label(tmp_path):
    outcome = run_file(write(tmp_path, "a.csv"), AlgorithmSpec("PAA-I", {}, 25), engine=InThisProcess())
    assert outcome.totals.labels == 25


@posix
def test_processes_that_are_killed_change_nothing(tmp_path):
    source = [str(write(tmp_path, "a.jsonl")), str(write(tmp_path, "b.jsonl", rows(seed=1)))]
    alone, killed = saved(source, tmp_path, engine=InThisProcess()), []

    def kill_one(progress):
        if len(killed) < 2 and local._running_pool is not None:
            alive = set(local._running_pool.pool._processes) - set(killed)
            for process in list(alive)[:1]:
                killed.append(process)
                os.kill(process, signal.SIGKILL)

    engine = make_engine("local", 2)
    assert saved(source, tmp_path, engine=engine, progress=kill_one) == alone
    assert killed
    engine.kill()


@pytest.mark.prove
@pytest.mark.parametrize("name", ["ray", "dask"])
def test_a_cluster_makes_the_same_model_even_if_workers_are_killed(name, tmp_path, monkeypatch):
    pytest.importorskip({"ray": "ray", "dask": "distributed"}[name], reason=f"no extra {name!r} here")
    source = [str(write(tmp_path, "a.parquet")), str(write(tmp_path, "b.parquet", rows(seed=1)))]
    alone, engine = saved(source, tmp_path, engine=InThisProcess()), make_engine(name, 2)
    victims = {engine.submit(os.getpid).result() for _ in range(4)}

    def kill_one(progress):
        if victims and progress.events > 500:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    assert saved(source, tmp_path, engine=engine, progress=kill_one) == alone
    assert not victims
    monkeypatch.setattr("askance.learner.delayed_updates.OVERHEAD", -1.0)  # now they score, too
    with open_stream(source) as stream:
        batch = next(iter(stream))
    scored, truth = (SPEC.make([0, 1]) for _ in "ab")
    scored.run(batch.X[:60], batch.y[:60], workers=engine)
    truth.run(batch.X[:60], batch.y[:60], workers=1)
    assert_same(scored, truth)
    engine.kill()


# --- interrupted -----------------------------------------------------------------------------------------


def play_until(calls, *arguments, **options):
    """Play in a process that kills itself after so many pieces."""
    if (child := os.fork()) == 0:
        seen = []

        def die(progress):
            seen.append(progress)
            if len(seen) == calls:
                os.kill(os.getpid(), signal.SIGKILL)

        run_file(*arguments, progress=die, **options)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


@posix
@pytest.mark.parametrize("in_rounds", [True, False])
def test_a_learner_killed_after_any_piece_comes_to_the_same_model(in_rounds, tmp_path):
    source = [str(write(tmp_path, "a.jsonl")), str(write(tmp_path, "b.jsonl", rows(seed=1)))]
    options = {"save_every": 300, "in_rounds": in_rounds}
    whole_run = saved(source, tmp_path, **options)
    for calls in (1, 9):
        path = tmp_path / f"killed after {calls}.model"
        assert play_until(calls, source, SPEC, save=path, **options)
        assert play_until(2, source, SPEC, save=path, resume=True, **options)
        run_file(source, SPEC, save=path, resume=True, **options)
        assert path.read_bytes() == whole_run


def test_a_model_that_was_loaded_goes_on_from_its_last_save(tmp_path):
    source = str(write(tmp_path, "a.jsonl"))
    saved(str(write(tmp_path, "before.jsonl", rows(seed=2))), tmp_path, "before.model")
    for name in ("one.model", "two.model"):
        loaded = Model.load(tmp_path / "before.model")
        run_file(source, model=loaded, save=tmp_path / name, save_every=200, resume=True)
    other = str(write(tmp_path, "b.jsonl", rows(seed=1)))
    loaded = Model.load(tmp_path / "before.model")
    run_file([source, other], model=loaded, save=tmp_path / "one.model", save_every=200)
    loaded = Model.load(tmp_path / "before.model")
    run_file([source, other], model=loaded, save=tmp_path / "two.model", save_every=200, resume=True)
    assert (tmp_path / "one.model").read_bytes() == (tmp_path / "two.model").read_bytes()


def test_a_run_that_ended_goes_on_with_files_that_came_since(tmp_path):
    one, other = str(write(tmp_path, "a.jsonl")), str(write(tmp_path, "b.jsonl", rows(seed=1)))
    whole_run = saved([one, other], tmp_path, save_every=10**6)
    saved([one], tmp_path, "two.model", save_every=10**6)
    assert saved([one, other], tmp_path, "two.model", save_every=10**6, resume=True) == whole_run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--continue",), "--continue goes on with what --save and --save-every have saved: name both again."),
        (("--save-every", "9"), "a model that is saved on the way needs a file: name it with --save."),
        (("--save-every", "9", "--save", "m", "--trace", "t.csv"), "write no --trace and no --curve; leave one out."),
        (("--update-immediately",), "--update-immediately is for --workers; without them every answer is learned imm"),
        (("--at-once",), "--update-immediately is for --workers"),
        (("--workers", "0"), "--workers"),
        (("-",), "the standard input is run alone"),
        (("nowhere.csv",), "there is no file 'nowhere.csv'"),
        (("*.tsv",), "there is no file that matches '*.tsv'."),
        (("a.jsonl",), "mixes formats"),
    ],
)
def test_slips_are_answered_with_a_sentence(words, message, tmp_path):
    write(tmp_path, "a.csv")
    write(tmp_path, "a.jsonl", list(rows(20)))
    assert message in complaint("run", "a.csv", *words, cwd=tmp_path)


def test_to_go_on_with_something_else_is_refused(tmp_path):
    write(tmp_path, "a.csv")
    usual = ("run", "a.csv", "--save", "m", "--save-every", "100", "-a", "PAA-I", "--seed", "0")
    assert here(*usual, cwd=tmp_path).returncode == 0
    assert "has run 'a.csv' to its end" in complaint(*usual, "--continue", cwd=tmp_path)
    others = ("run", "a.csv", "--save", "m", "--save-every", "100", "-a", "SOAL", "--continue")
    assert "is of PAA-I with other parameters" in complaint(*others, cwd=tmp_path)
    (tmp_path / "a.csv").write_text("size,label\n1,0\n2,1\n")
    assert "go on with the same files in the same order" in complaint(*usual, "--continue", cwd=tmp_path)
    assert here("run", "a.csv", "--save", "m", "-a", "PAA-I", cwd=tmp_path).returncode == 0
    assert "was not saved on the way through files" in complaint(*usual, "--continue", cwd=tmp_path)


def test_patterns_name_files_in_the_order_of_their_names(tmp_path):
    write(tmp_path, "b.csv")
    write(tmp_path, "a.csv", rows(seed=1))
    for name, words in (("one", ("*.csv",)), ("two", ("a.csv", "b.csv"))):
        assert here("run", *words, "--seed", "1", "--save", name, "-a", "PAA-I", cwd=tmp_path).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
