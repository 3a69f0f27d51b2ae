"""Prints the fleet, and every open ticket."""

import json
import os
import time
import urllib.error
import urllib.request

from dbvitals import FleetEntry, Ticket, TicketMeta

ORIGIN = os.environ.get("DBVITALS_URL", "https://dbvitals.example.com")
with open(os.environ.get("DBVITALS_KEY_FILE", "dbvitals.key"), encoding="utf-8") as file:
    KEY = file.read().strip()


def get(path: str) -> dict:
    """The answer to a request. Waits while the key is over its limit."""
    request = urllib.request.Request(ORIGIN + path, headers={"Authorization": f"Bearer {KEY}"})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise SystemExit(json.load(error)["error"]["message"]) from error
            time.sleep(int(error.headers["Retry-After"]))


for entry in map(FleetEntry.from_dict, get("/api/v1/health/fleet")["data"]):
    score = "no score" if entry.score is None else entry.score
    print(f"{entry.name}: {score}, {entry.status.value}")

page, has_more = 0, True
while has_more:
    page += 1
    body = get(f"/api/v1/ops/tickets?status=open&per_page=20&page={page}")
    for ticket in map(Ticket.from_dict, body["data"]):
        print(f"{ticket.id} {ticket.first_seen_at:%Y-%m-%d} {ticket.severity.value} {ticket.title}")
    has_more = TicketMeta.from_dict(body["meta"]).has_more
