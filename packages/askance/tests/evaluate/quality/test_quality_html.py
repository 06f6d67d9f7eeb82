"""Estimates and reports are tables in a notebook."""

import re

import numpy as np

import askance


def test_a_quality_estimate_and_a_report_are_shown_as_tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    clf = askance.make("auto", budget=60, explore=0.02, random_state=0)
    clf.run(X, np.where(X[:, 0] > 0, "<b>", "a&b"))
    quality = clf.report().quality
    shown = quality._repr_html_()
    assert shown.count("<tr>") == len(quality) + 1
    assert all(f"<th>{name.replace('_', ' ')}</th>" in shown for name in quality)
    assert f"<td>{quality.accuracy.value:.4f}</td>" in shown
    assert str(quality) == quality.table()
    report = clf.report()._repr_html_()
    assert report.count("<table>") == report.count("</table>") == 2
    assert clf.report().leader in report
    assert not re.search(r"<(?!/?(p|table|tr|td|th)>)", report)
