"""Events that are hard to show: long, in other scripts, wide, hostile."""

TWELVE = ["billing", "cancellation", "complaint", "delivery", "feedback", "fraud", "login trouble", "order status",
          "product question", "refund", "spam", "something else entirely, described in far too many words"]  # fmt: skip

LETTER = (
    "Dear team,\n\nI ordered the blue lamp three weeks ago and it still has not arrived. The tracking page says it was "
    "delivered on Monday, but nobody here has seen it, and the courier does not answer the phone. "
)

# Each would call alert(), leave a request for /stolen, or break out of where it is shown.
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=/stolen onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "' onmouseover='alert(4)' x='",
    "</script><script>alert(5)</script>",
    "</textarea></pre></title><iframe src=/stolen></iframe>",
    "{{7*7}}{% raw %}${alert(6)}",
    "javascript:alert(7)",
    "<style>*{background:url(/stolen)}</style><link rel=stylesheet href=/stolen>",
    '<a href="javascript:alert(8)">free prize</a>',
    "<meta http-equiv=refresh content='0;url=/stolen'>",
    "\u202e<b>gnp.exe\u202c \ufeff<math><mtext></form><form><mglyph><style></math><img src onerror=alert(9)>",
]


def hard_events():
    """What real streams bring, one kind each."""
    wide = {f"measure_{place:02d}": round(0.37 * place**1.5, 3) for place in range(38)}
    return [
        {"text": (LETTER * 3).strip(), "size": 12, "channel": "mail", "customer": {"country": "DE", "orders": [3, 1]}},
        {
            "text": "The parcel came 📦🎉 but the cup was in 1,000 pieces 😭👨‍👩‍👧‍👦🏳️‍🌈 ¯\\_(ツ)_/¯ please refund",
            "size": 3,
        },
        {
            "text": "مرحبا، لم يصل طلبي رقم 4521 بعد. أرجو إرسال refund في أقرب وقت ممكن. שלום, איפה ההזמנה שלי?",
            "size": 7,
        },
        {"text": "Everything about this order", "note": None, "empty": "", **wide},
        {
            "text": "x" * 900 + " https://example.org/" + "a/b" * 60,
            "a_field_name_that_goes_on_" + "and_on_" * 12: "v" * 300,
        },
        {"text": LETTER * 400, "size": 1},
    ]


def hostile_events():
    """Every hostile text as an id, a field's name, a value and a nested value."""
    events = []
    for place, text in enumerate(HOSTILE):
        fields = {"text": f"{text} prize {text}", text: text, "nested": {text: [text]}, "size": place}
        events.append(
            {
                "id": f"{text[:60]}-{place}".replace("\u202e", "").replace("\u202c", "").replace("\ufeff", ""),
                "fields": fields,
            }
        )
    return events
