"""No near-duplicates in a row, and no question lost by that."""

import random
from itertools import pairwise

from askance_live.questions.variety import ALIKE, BETWEEN, are_alike, choose_by_topic, choose_varied, words_of


def take_all(service, most=100):
    """Every question, one at a time, as one person gets them."""
    order = []
    while len(order) < most and (asks := service.next(1)):
        (ask,) = asks
        order.append(ask["event"]["id"])
        service.answer(ask, "spam")
    return order


def test_twins_are_kept_apart_as_long_as_there_are_others_and_all_are_asked(make, store):
    service = make(store=store, asking={"rate": 1.0}, queue={"freshness": 1e9})
    twin = {"text": "you won a cruise to the islands call now", "size": 7}
    twins = [{"id": f"twin-{k}", "fields": twin} for k in range(4)]
    texts = ("lunch at noon", "where is my lamp", "the meeting moved", "please send the invoice", "happy birthday")
    others = [{"id": f"other-{k}", "fields": {"text": text, "size": 100 + k}} for k, text in enumerate(texts)]
    for event in [*others, *twins]:  # the newest comes first, so the twins would
        assert service.post("/v1/events", event).json()["asked"]
    order = take_all(service)
    assert sorted(order) == sorted(event["id"] for event in (*twins, *others))
    places = [place for place, name in enumerate(order) if name.startswith("twin")]
    assert places[0] == 0
    assert places[1] - places[0] > BETWEEN  # the five others suffice for one gap


def test_what_a_page_holds_already_counts_as_just_seen(make):
    service = make(asking={"rate": 1.0}, queue={"freshness": 1e9})
    for k, text in enumerate(("lunch at noon", "buy cheap watches today", "buy cheap watches today")):
        service.post("/v1/events", {"id": f"e{k}", "fields": {"text": text}})
    (first,) = service.next(1)
    assert first["event"]["id"] == "e2"
    more = service.post(f"/v1/asks/next?n=1&exclude={first['id']}", {}).json()["asks"]
    assert [ask["event"]["id"] for ask in more] == ["e0"]


def test_nothing_but_twins_is_asked_in_the_order_of_rank():
    words = words_of('{"text": "the same words"}')
    assert choose_varied([(k, words) for k in range(5)], [words], 5) == list(range(5))


def test_the_choice_is_a_permutation_that_keeps_ranks_where_nothing_is_alike():
    rng = random.Random(3)
    for _ in range(200):
        events = [frozenset(rng.choices("abcdef", k=4)) for _ in range(rng.randrange(1, 9))]
        waiting = list(enumerate(events))
        found = choose_varied(waiting, [], len(waiting))
        assert sorted(found) == [number for number, _ in waiting]
        if not any(are_alike(a, b) for k, a in enumerate(events) for b in events[:k]):
            assert found == [number for number, _ in waiting]
        for place, number in enumerate(found):  # by the definition, once more
            last = [events[other] for other in found[max(0, place - BETWEEN) : place]]
            allowed = [
                k
                for k in range(len(events))
                if k not in found[:place]
                and not any(len(events[k] & old) / len(events[k] | old) >= ALIKE for old in last)
            ]
            assert number == min(allowed or [k for k in range(len(events)) if k not in found[:place]])


def test_words_are_those_of_values_and_events_without_any_are_alike():
    assert words_of('{"a":"x y","b":{"c\\"d":3,"e":[true,null]}}') == {"x", "y", "3", "true", "null"}
    assert words_of("{}") == frozenset()
    assert are_alike(frozenset(), frozenset())
    assert len(words_of('{"text":"' + "word " * 10_000)) == 2


def test_questions_of_a_topic_come_together_on_wish_and_all_are_asked(make, store):
    service = make(store=store, asking={"rate": 1.0}, queue={"freshness": 1e9})
    texts = {"lamp": "the lamp has not arrived at all", "prize": "win a prize in our great lottery"}
    names = []
    for k in range(4):
        for topic, text in texts.items():  # in turn
            names.append(f"{topic}-{k}")
            service.post("/v1/events", {"id": names[-1], "fields": {"text": f"{text} number {k}{k}"}})
    order = []
    while len(order) < 20 and (response := service.post("/v1/asks/next?topic=1")).status_code == 200:
        (ask,) = response.json()["asks"]
        order.append(ask["event"]["id"])
        service.answer(ask, "spam")
    assert sorted(order) == sorted(names)
    topics = [name.split("-")[0] for name in order]
    assert sum(one != other for one, other in pairwise(topics)) == 1
    assert service.post("/v1/asks/next?topic=2").status_code == 422


def test_gathering_is_a_permutation_that_keeps_ranks_where_nothing_is_related():
    rng = random.Random(4)
    for _ in range(100):
        waiting = [(k, frozenset(rng.sample("abcdefgh", rng.randint(0, 4)))) for k in range(10)]
        assert sorted(choose_by_topic(waiting, [frozenset("ab")], 10)) == list(range(10))
    apart = [(k, frozenset(letter)) for k, letter in enumerate("abcdef")]
    assert choose_by_topic(apart, [], 6) == list(range(6))
    assert choose_by_topic(apart, [frozenset("d")], 2) == [3, 0]
