"""Benchmarks of askance: ``python -m benchmarks`` measures, prints ratios and writes ``RESULTS.md``."""
