"""Engines: the same results file, byte for byte, wherever the workers are, and whoever of them is killed."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from tests.compare.streams import blobs
from tests.patience import PATIENCE, wait_until

from askance.compare import Candidate, Sweep
from askance.engines import local, make_engine
from askance.errors import AskanceError, InvalidParameter
from askance.extras import how_to_install

posix = pytest.mark.skipif(sys.platform == "win32", reason="sends a signal that Windows does not know")


def sweep(**options):
    algorithms = [Candidate("PAA-I", {"C": [0.1, 1.0]}), "RPA-I", "SOAL-diag"]
    return Sweep(blobs(**options), algorithms, [0.05, 0.2], permutations=3, search_permutations=2)


@pytest.fixture
def alone(tmp_path):
    """The results file of a sweep that was played in one process."""
    sweep().run(workers=1, results=tmp_path / "alone.jsonl")
    return (tmp_path / "alone.jsonl").read_bytes()


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr("askance.compare.scheduler.WORTH_STARTING", -1.0)  # processes even for so little


def test_an_interrupted_sweep_leaves_the_same_file_in_the_end(alone, tmp_path):
    path, progress = tmp_path / "results.jsonl", count()

    def interrupt(_):
        if next(progress) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep().run(interrupt, workers=1, results=path)
    assert 0 < path.read_bytes().count(b"\n") < alone.count(b"\n")
    sweep().run(workers=1, results=path)
    assert path.read_bytes() == alone


@posix
@pytest.mark.usefixtures("at_once")
def test_a_killed_process_loses_nothing(alone, tmp_path):
    path, killed = tmp_path / "results.jsonl", []

    def kill_one(progress):
        if progress.done > 3 and not killed and local._running_pool is not None:
            killed.extend(list(local._running_pool.pool._processes)[:1])
            os.kill(killed[0], signal.SIGKILL)

    sweep().run(kill_one, workers=2, results=path)
    assert killed
    assert path.read_bytes() == alone


def die(table, *_):
    os.kill(os.getpid(), signal.SIGKILL)


@posix
@pytest.mark.prove
@pytest.mark.usefixtures("at_once")
def test_a_play_that_always_kills_its_process_ends_the_sweep_with_a_sentence(monkeypatch):
    monkeypatch.setattr("askance.compare.scheduler.play_shared", die)
    with pytest.raises(AskanceError, match="the process that played .* was killed 4 times; is there enough memory"):
        sweep().run(workers=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "slurm"}, "engine must be one of local, ray, dask, got 'slurm'"),
        ({"workers": 0}, "workers must be 1 or more, got 0"),
        ({"address": "tcp://here:1"}, "the local engine has no address, got 'tcp://here:1'; choose the engine ray or"),
    ],
)
def test_slips_are_explained(options, message):
    with pytest.raises(InvalidParameter, match=message):
        make_engine(**options)


@pytest.mark.parametrize(("engine", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_a_missing_package_is_named_with_what_installs_it(engine, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidParameter, match=f"the engine {engine} needs .*: {re.escape(how_to_install(engine))}"):
        make_engine(engine)


# --- clusters --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["ray", "dask"])
def cluster(request):
    """The name of an engine, with two workers that run."""
    pytest.importorskip({"ray": "ray", "dask": "distributed"}[request.param], reason=f"no extra {request.param!r} here")
    engine = make_engine(request.param, 2)
    engine.start()
    yield request.param
    engine.kill()


@pytest.mark.prove
def test_a_cluster_leaves_the_same_file_even_if_workers_are_killed(cluster, alone, tmp_path):
    sweep().run(engine=cluster, workers=2, results=tmp_path / "cluster.jsonl")
    assert (tmp_path / "cluster.jsonl").read_bytes() == alone
    path, killed, engine = tmp_path / "killed.jsonl", [], make_engine(cluster, 2)
    victims = {engine.submit(os.getpid).result() for _ in range(4)}

    def kill_one(progress):
        if progress.done > 3 and not killed:
            killed.append(victims.pop())
            os.kill(killed[0], signal.SIGKILL)

    sweep().run(kill_one, engine=cluster, workers=2, results=path)
    assert killed
    assert path.read_bytes() == alone


@pytest.mark.prove
def test_what_fails_on_a_cluster_fails_as_it_would_here(cluster):
    with pytest.raises(InvalidParameter, match="^engine must be one of local, ray, dask, got 'slurm'.$"):
        make_engine(cluster, 2).submit(make_engine, "slurm").result()


@pytest.mark.prove
@pytest.mark.parametrize(("engine", "address"), [("dask", "tcp://127.0.0.1:9"), ("dask", "nowhere")])
def test_a_cluster_that_does_not_answer_is_named(engine, address):
    pytest.importorskip("distributed")
    with pytest.raises(InvalidParameter, match=f"cannot connect to Dask at '{address}': "):
        make_engine(engine, address=address).start()


# --- the head of a cluster -------------------------------------------------------------------------------

PLAY = """\
import sys, time
from tests.engines.test_engines import sweep

def slow_down(progress):
    time.sleep(0.2)  # so that there is something left to kill
    print(progress.done, flush=True)

sweep().run(slow_down, engine="ray", address=sys.argv[1], workers=2, results=sys.argv[2])
"""


def free_port():
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def is_listening(address):
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), 1):
        return True
    return False


def descendants(pid):
    """The processes that a process has started, and theirs."""
    children = [int(one) for task in Path(f"/proc/{pid}/task").glob("*/children") for one in task.read_text().split()]
    return [child for one in children for child in (one, *descendants(one))]


@posix
@pytest.mark.prove
@pytest.mark.alone  # Ray gives up where a node takes 30 seconds to start
def test_a_sweep_whose_cluster_lost_its_head_goes_on_where_it_was(alone, tmp_path):
    ray = pytest.importorskip("ray", reason="no extra 'ray' here")
    if not Path("/proc/self/task").exists():
        pytest.skip("there is no /proc here, in which the processes of the cluster are found")
    temporary = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # the names of its sockets must be short
    address, path = f"{ray.util.get_node_ip_address()}:{free_port()}", tmp_path / "results.jsonl"
    words = [
        sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--num-cpus", "2", "--port",
        address.rpartition(":")[2], "--include-dashboard", "false", "--disable-usage-stats",
        "--temp-dir", temporary,
    ]  # fmt: skip
    environment = {**os.environ, "RAY_gcs_rpc_server_reconnect_timeout_s": "20", "RAY_AUTH_MODE": "disabled"}
    head = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    player = None
    try:
        wait_until(lambda: is_listening(address), "the head of a cluster")
        player = subprocess.Popen(
            [sys.executable, "-c", PLAY, address, str(path)], env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[2],
        )  # fmt: skip
        while int(line := player.stdout.readline() or -1) < 4:
            assert line != -1, "the sweep ended before the head was killed"
        for process in (*descendants(head.pid), head.pid):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        player.communicate(timeout=PATIENCE)
        assert player.returncode != 0
    finally:
        for process in (player, head):
            if process is not None:
                for child in descendants(process.pid) if process.poll() is None else ():
                    with suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
                process.kill()
                process.wait()
        shutil.rmtree(temporary, ignore_errors=True)
    assert 0 < path.read_bytes().count(b"\n") < alone.count(b"\n")
    sweep().run(workers=1, results=path)
    assert path.read_bytes() == alone
