# An entry of the activity log in the Elastic Common Schema (ECS 8.11). Converts each entry to one document:
#   jq -c -f ecs.jq entries.ndjson
def category:
  if . == "api_request" or . == "api_key_refused" then "api"
  elif test("^(api_key|member|account)_") then "iam"
  elif test("^connection_") then "configuration"
  else "database"
  end;

def kinds:
  if .action_type == "api_request" then
    ["access"] + if .properties.status == 403 then ["denied"] else [] end
  elif .action_type == "api_key_refused" then ["access", "denied"]
  elif .action_type | test("_(created|added)$") then ["creation"]
  elif .action_type | test("_(changed|regenerated|escalated|deescalated)$") then ["change"]
  elif .action_type | test("_(removed|revoked)$") then ["deletion"]
  else ["info"]
  end;

def query: to_entries | map("\(.key | @uri)=\(.value | @uri)") | join("&");

.properties as $of
| (.action_type == "api_request") as $request
| {
    "@timestamp": .occurred_at,
    ecs: { version: "8.11.0" },
    event: {
      kind: "event",
      category: [.action_type | category],
      type: kinds,
      action: .action_type,
      outcome: (if .action_type == "api_key_refused" or ($request and $of.status >= 400) then "failure" else "success" end),
      id: "\(.id)",
      sequence: .id,
      provider: "dbvitals",
      dataset: "dbvitals.activity"
    },
    url: ({ path: .page_path } + if $request and $of.query != {} then { query: ($of.query | query) } else {} end)
  }
+ if $request then
    {
      http: { request: { method: $of.method, id: $of.request_id }, response: { status_code: $of.status } },
      source: { ip: $of.source_ip },
      user: { id: "\($of.api_key_id)", name: $of.api_key_name },
      user_agent: { original: $of.user_agent },
      error: { code: $of.error_code }
    }
  elif .action_type == "api_key_refused" then
    {
      source: { ip: $of.source_ip },
      user: { id: "\($of.api_key_id)", name: $of.api_key_name },
      dbvitals: { activity: $of }
    }
  else { dbvitals: { activity: $of } }
  end
# ECS omits unknown fields.
| del(.. | nulls)
| with_entries(select(.value != {}))
