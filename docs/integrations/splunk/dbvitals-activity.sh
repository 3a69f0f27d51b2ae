#!/bin/sh
# A scripted input: prints new entries of the activity log and saves its position in the app's local folder.
app=$(cd "$(dirname "$0")/.." && pwd)
# curl must not load Splunk's libraries.
unset LD_LIBRARY_PATH
export DBVITALS_URL="${DBVITALS_URL:-https://dbvitals.example.com}"
export DBVITALS_HEADER="$app/local/dbvitals.header"
export DBVITALS_STATE="$app/local/dbvitals.state"
exec "$app/bin/new-entries.sh"
