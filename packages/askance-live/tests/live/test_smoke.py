"""One of everything over HTTP, on either store: what the service needs of each package that it is built on.

The other files say what the service does. This one is short enough to be run with the lowest versions, too.
"""


def test_an_event_becomes_a_question_an_answer_a_number_and_a_page_and_outlives_a_restart(make, store):
    service = make(store=store)
    service.send(*(f"e{number}" for number in range(5)))
    for ask in service.next(3):
        assert service.answer(ask, "spam").json()["outcome"] == "accepted"
    service.wait_until_learned(3)
    assert "askance_model_version 3" in service.get("/metrics").text  # prometheus-client
    for page in ("/", "/label"):  # jinja2
        response = service.get(page, headers={"Accept": "text/html"})
        assert response.status_code == 200
        assert "</html>" in response.text
    assert service.get("/openapi.json").json()["openapi"].startswith("3.1")  # msgspec
    assert service.post("/v1/events", {"id": 1.5, "fields": {}}).status_code == 422
    service.restart()
    assert service.stats()["events"]["total"] == 5
    service.stop()
    service.digest()
