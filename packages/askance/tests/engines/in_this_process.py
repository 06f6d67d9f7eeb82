"""An engine for tests: its worker is this process, and may be killed as often as a test wants."""

import sys
from concurrent.futures import Future

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="sends a signal that Windows does not know")


class InThisProcess:
    """An engine whose only worker is this process; ``lost`` says whose worker is killed, by the number of the task."""

    is_remote, losses, is_running, count = False, (ProcessLookupError,), True, 2

    def __init__(self, lost=()):
        self.lost, self.sent, self.refused = set(lost), 0, 0

    def start(self):
        pass

    def kill(self):
        pass

    def put(self, value):
        return value

    def free(self, handle):
        pass

    def submit(self, work, *arguments):
        future, self.sent = Future(), self.sent + 1
        if self.sent in self.lost:
            future.set_exception(ProcessLookupError())
            return future
        future.set_result(work(*arguments))
        self.refused += future.result() is None
        return future
