"""Run pip-audit; fail where it finds a known vulnerability, and say so where its database cannot be reached.

pip-audit itself ends well when the database knows none of the packages, as behind a mirror: that is no result.
"""

from __future__ import annotations

import json
import subprocess
import sys


def judge(report: dict) -> tuple[int, str]:
    """The exit code, and what to say, of what pip-audit has reported as JSON."""
    packages = report["dependencies"]
    looked_up = [package for package in packages if "skip_reason" not in package]
    found = [
        f"{package['name']} {package['version']}: {weakness['id']}"
        f" (fixed in {', '.join(weakness['fix_versions']) or 'no version'})"
        for package in looked_up
        for weakness in package["vulns"]
    ]
    if found:
        return 1, "\n".join(["known vulnerabilities:", *found])
    if not looked_up:
        return 0, "vulnerabilities: the database of vulnerabilities could not be reached, so nothing was looked up."
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    return (
        0,
        f"vulnerabilities: none known in {len(looked_up)} packages; not looked up: {', '.join(unknown) or 'none'}.",
    )


def main(command: list[str]) -> int:
    done = subprocess.run([*command, "--format", "json", "--progress-spinner", "off"], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        if "ConnectionError" in done.stderr or "ServiceError" in done.stderr or "Timeout" in done.stderr:
            report = {"dependencies": []}
        else:
            print(done.stderr, file=sys.stderr)
            return done.returncode or 1
    code, said = judge(report)
    print(said)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
