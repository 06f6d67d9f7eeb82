import re

import pytest

from askance.data.datasets import entries, find
from askance.data.datasets.fetch import FORMATS
from askance.data.datasets.load import TASKS
from askance.data.datasets.registry import KINDS
from askance.errors import InvalidParameter
from askance_papers import experiments


@pytest.mark.parametrize("name", entries())
def test_an_entry_says_what_where_from_and_under_which_licence(name):
    entry = find(name)
    assert entry.kind in KINDS
    assert entry.rows > 0
    assert entry.classes >= 2
    assert (entry.columns == 0) == (entry.kind == "text")
    assert entry.source
    assert entry.licence
    assert re.match(r"https?://\S+$", entry.page)
    assert not entry.counts or (sum(entry.counts) == entry.rows and len(entry.counts) == entry.classes)
    assert set(entry.papers) <= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("name", entries())
def test_an_entry_that_can_be_fetched_says_how(name):
    entry = find(name)
    assert bool(entry.files) == bool(entry.format)
    assert not entry.format or entry.format in FORMATS
    for source in entry.files:
        assert re.match(r"https?://\S+$", source.url)
        assert re.match(r"(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})?$", source.checksum)
        assert re.match(r"[\w.-]+$", source.file_name)


@pytest.mark.parametrize("name", [name for name, entry in entries().items() if entry.is_task])
def test_a_task_is_made_of_known_sets_in_a_known_way(name):
    entry = find(name)
    assert entry.options["make"] in TASKS
    assert entry.parts
    assert all(not find(part).is_task for part in entry.parts)


def test_what_the_results_were_made_with_has_a_fingerprint():
    for entry in entries().values():
        assert re.match(r"([0-9a-f]{64})?$", entry.content)


def test_every_set_of_an_experiment_is_in_the_entries():
    for experiment in experiments().values():
        for name in experiment.sets:
            find(name.partition(":")[0])


def test_a_misspelt_name_gets_a_suggestion():
    with pytest.raises(InvalidParameter, match="no data set 'w8'; did you mean 'w8a'?"):
        find("w8")
    with pytest.raises(InvalidParameter, match="askance data list"):
        find("quite something else")
