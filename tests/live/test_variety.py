"""No near-duplicates in a row, and no question lost by that."""

import random

from askance.live.variety import ALIKE, BETWEEN, are_alike, choose, words_of


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
    assert choose([(k, words) for k in range(5)], [words], 5) == list(range(5))


def test_the_choice_is_a_permutation_that_keeps_ranks_where_nothing_is_alike():
    rng = random.Random(3)
    for _ in range(200):
        events = [frozenset(rng.choices("abcdef", k=4)) for _ in range(rng.randrange(1, 9))]
        waiting = list(enumerate(events))
        found = choose(waiting, [], len(waiting))
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
