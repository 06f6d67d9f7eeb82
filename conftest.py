"""Properties are tried with the same examples every time, and however long a slow machine takes to draw them.

``HYPOTHESIS_PROFILE=default`` tries others, to find what these do not. The tests of the packages are one namespace,
``tests``; processes that a test starts find it, too.
"""

import gc
import os
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

ROOT = Path(__file__).parent
HOMES = [ROOT, *sorted((ROOT / "packages").iterdir())]
os.environ["PYTHONPATH"] = os.pathsep.join([*map(str, HOMES), *filter(None, [os.environ.get("PYTHONPATH")])])


def pytest_collection_finish():
    """What all tests have in common by now is no garbage that a worker need look through, again and again."""
    gc.collect()
    gc.freeze()
