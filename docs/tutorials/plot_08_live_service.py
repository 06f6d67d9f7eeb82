"""
The live service
================

``askance serve`` takes events over HTTP, predicts each at once, and puts a few before people on a page. Here a
program plays both parts: the stream, and the annotator. It needs the service:
``pip install ./packages/askance ./packages/askance-live`` in the clone.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

from askance.data.generators import messages

folder = tempfile.TemporaryDirectory()
askance = [sys.executable, "-m", "askance"]
subprocess.run([*askance, "init", "--classes", "ham,spam"], cwd=folder.name, check=True, capture_output=True)
service = subprocess.Popen(
    [*askance, "serve", "--port", "0"],
    cwd=folder.name,
    stdout=subprocess.PIPE,
    stderr=subprocess.DEVNULL,
    text=True,
    env=os.environ | {"PYTHONUNBUFFERED": "1"},
)
atexit.register(service.terminate)
address = service.stdout.readline().split()[-1]


def post(path, body):
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or "null")


# %%
# Events go in, up to 1,000 at a time; each gets its prediction, and some become questions.

stream = messages(300, random_state=0)
events = [{"id": f"m-{i}", "fields": {"text": text}} for i, text in enumerate(stream.texts)]
items = post("/v1/events", events)["items"]
print(items[0])
print(sum(item["asked"] for item in items), "questions")

# %%
# An annotator, or a program, takes the next question and answers it.

truth = {event["id"]: label for event, label in zip(events, stream.labels.tolist(), strict=True)}
answered = 0
while found := post("/v1/asks/next?n=10", {}):
    for ask in found["asks"]:
        answer = {"answer_id": f"tutorial-{ask['id']}", "token": ask["token"], "label": truth[ask["event"]["id"]]}
        post(f"/v1/asks/{ask['id']}/answer", answer)
        answered += 1
print(answered, "answers; people give theirs on the page /label")

# %%

service.terminate()
service.wait()
service.stdout.close()
folder.cleanup()
