"""The settings that ``askance init`` writes: complete, and what they show is what holds."""

import re
import tomllib
from dataclasses import fields

import pytest

from askance.cli import main
from askance_live.access.company import OidcSettings
from askance_live.access.mail import MailSettings
from askance_live.config import (
    AskingSettings,
    Config,
    Display,
    Instructions,
    LogSettings,
    ModelSettings,
    Queue,
    ServerSettings,
    from_document,
    load,
)
from askance_live.webhooks.settings import Webhook

SECTIONS = {
    "model": ModelSettings,
    "asking": AskingSettings,
    "queue": Queue,
    "server": ServerSettings,
    "log": LogSettings,
    "instructions": Instructions,
    "display": Display,
}


def written(folder, classes="ham,spam"):
    path = folder / "askance.toml"
    assert main(["init", "--config", str(path), "--classes", classes]) == 0
    return path


def shown(text):
    """The settings as they would be if nothing were commented out, but for what is only an example."""
    lines = [line for line in text.splitlines() if "for example" not in line and '"..."' not in line]
    bare = [re.sub(r"^# (?=\[|\w+ = )", "", line) for line in lines]
    return tomllib.loads("\n".join(bare))


def test_every_setting_is_in_the_template(tmp_path):
    text = written(tmp_path).read_text("utf-8")
    top, *rest = re.split(r"^(?:# )?\[(\w+)\]$", text, flags=re.MULTILINE)
    parts = dict(zip(rest[::2], rest[1::2], strict=True))
    assert {*SECTIONS, "fields"} == parts.keys()
    for section, kind in SECTIONS.items():
        names = set(AskingSettings().to_dict()) if kind is AskingSettings else {item.name for item in fields(kind)}
        if kind is ModelSettings:
            names -= {
                "classes",
                "fields",
                "parameters",
                "label_sets",
                "labels",
                "added",
                "since",
                "edition",
            }  # the store's, or above
        if kind is Instructions:
            names -= {"classes"}
        own = re.split(r"# \[\w+\.", parts[section])[0]
        assert names == set(re.findall(r"^(?:# )?(\w+) = ", own, re.MULTILINE))
    hooks = re.split(r"^# \[\[webhooks\]\]", text, flags=re.MULTILINE)[1].split("\n\n")[0]
    assert {item.name for item in fields(Webhook)} == set(re.findall(r"^# (\w+) = ", hooks, re.MULTILINE))
    company = re.split(r"^# \[oidc\]", text, flags=re.MULTILINE)[1].split("\n\n")[0]
    assert {item.name for item in fields(OidcSettings)} == set(re.findall(r"^# (\w+) = ", company, re.MULTILINE))
    mails = re.split(r"^# \[mail\]", text, flags=re.MULTILINE)[1].split("\n\n")[0]
    assert {item.name for item in fields(MailSettings)} == set(re.findall(r"^# (\w+) = ", mails, re.MULTILINE))
    names = {item.name for item in fields(Config)} - SECTIONS.keys() - {"folder", "webhooks", "oidc", "mail"}
    assert names | {"label_sets"} == set(re.findall(r"^(?:# )?(\w+) = ", top, re.MULTILINE))


@pytest.mark.parametrize("classes", ["ham,spam", "a,b,c"])
def test_what_is_written_and_what_it_shows_are_the_defaults(tmp_path, classes):
    path = written(tmp_path, classes)
    default = from_document({"name": "askance", "classes": classes.split(",")}, tmp_path)
    assert load(path) == default
    document = shown(path.read_text("utf-8"))
    assert document.pop("fields") == {"text": "text", "amount": "number", "country": "category"}
    assert document["model"].pop("parameters") == {"objective": "accuracy"}
    assert {"hash_bits", "ngrams"} < document["model"].keys()
    assert {"park_after", "later"} < document["queue"].keys()
    found = from_document(document, tmp_path)
    assert found == default


def test_label_sets_are_written_where_they_are_wanted(tmp_path):
    path = tmp_path / "askance.toml"
    assert main(["init", "--config", str(path), "--classes", "a,b,c", "--label-sets"]) == 0
    default = from_document({"name": "askance", "classes": ["a", "b", "c"], "label_sets": True}, tmp_path)
    assert load(path) == default
    assert default.model.label_sets
