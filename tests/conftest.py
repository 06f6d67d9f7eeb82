"""Properties are tried with the same examples every time, and however long a slow machine takes to draw them.

``HYPOTHESIS_PROFILE=default`` tries others, to find what these do not.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
