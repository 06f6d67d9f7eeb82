"""The interface as an OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any

import askance


def document() -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "askance", "version": askance.__version__}, "paths": {}}
