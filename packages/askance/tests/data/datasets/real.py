"""The folder of real sets, remembered before the tests hide it from themselves."""

import os

REAL_FOLDER = os.environ.get("ASKANCE_DATA") or None
