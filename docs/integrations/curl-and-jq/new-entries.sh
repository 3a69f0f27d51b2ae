#!/bin/sh
# Prints the activity entries since the last call, oldest first, one JSON object per line.
# DBVITALS_URL     such as https://dbvitals.example.com
# DBVITALS_HEADER  a file, mode 0600: Authorization: Bearer <API_KEY>
# DBVITALS_STATE   a file that stores the last printed id
set -eu
after=$(cat "$DBVITALS_STATE" 2>/dev/null || echo 0)
more=true
while [ "$more" = true ]; do
  # --retry waits as Retry-After says after a 429, and backs off after a 500.
  page=$(curl --silent --show-error --fail --retry 5 --header "@$DBVITALS_HEADER" \
    "$DBVITALS_URL/api/v1/activity?order=asc&per_page=100&after_id=$after")
  printf '%s\n' "$page" | jq --compact-output '.data[]'
  after=$(printf '%s\n' "$page" | jq ".data[-1].id // $after")
  more=$(printf '%s\n' "$page" | jq .meta.has_more)
  echo "$after" > "$DBVITALS_STATE.new"
  mv "$DBVITALS_STATE.new" "$DBVITALS_STATE"
done
