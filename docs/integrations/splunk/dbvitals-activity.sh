#!/bin/sh
# A scripted input: prints what is new in the activity log and keeps its place in the app's local folder.
app=$(cd "$(dirname "$0")/.." && pwd)
# Splunk's own libraries are not curl's.
unset LD_LIBRARY_PATH
export DBVITALS_URL="${DBVITALS_URL:-https://dbvitals.example.com}"
export DBVITALS_HEADER="$app/local/dbvitals.header"
export DBVITALS_STATE="$app/local/dbvitals.state"
exec "$app/bin/new-entries.sh"
