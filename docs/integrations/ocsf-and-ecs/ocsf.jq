# An entry of the activity log as OCSF API Activity (class 6003, OCSF 1.3.0). Converts each entry to one event:
#   jq -c -f ocsf.jq entries.ndjson
def milliseconds: ((.[0:19] + "Z" | fromdateiso8601) * 1000) + (.[20:23] | tonumber);

# activity_id of the class: 1 create, 2 read, 3 update, 4 delete, 99 other.
def activity:
  if .action_type == "api_request" then
    { GET: 2, HEAD: 2, OPTIONS: 2, POST: 1, PUT: 3, PATCH: 3, DELETE: 4 }[.properties.method] // 99
  elif .action_type | test("_(created|added|opened)$") then 1
  elif .action_type | test("_(changed|regenerated|resolved|escalated|deescalated)$") then 3
  elif .action_type | test("_(removed|revoked)$") then 4
  else 99
  end;

. as $entry
| .properties as $of
| (.action_type == "api_request") as $request
| activity as $activity
| (.action_type == "api_key_refused") as $refused
| ($refused or ($request and ($of.status >= 400))) as $failed
| {
    class_uid: 6003,
    class_name: "API Activity",
    category_uid: 6,
    category_name: "Application Activity",
    activity_id: $activity,
    activity_name: (if $activity == 99 then .action_type
                    else { "1": "Create", "2": "Read", "3": "Update", "4": "Delete" }["\($activity)"] end),
    type_uid: (6003 * 100 + $activity),
    # 1 informational, 2 low: rejected, 3 medium: the service failed, or someone tried a revoked or expired key.
    severity_id: (if $refused then 3 elif ($request | not) or $of.status < 400 then 1 elif $of.status < 500 then 2 else 3 end),
    status_id: (if $failed then 2 else 1 end),
    status: (if $failed then "Failure" else "Success" end),
    time: (.occurred_at | milliseconds),
    message: (if $request then "\($of.method) \(.page_path): \($of.status)" else .action_type end),
    metadata: {
      version: "1.3.0",
      product: { name: "dbvitals", vendor_name: "dbvitals" },
      log_name: "activity",
      event_code: .action_type,
      uid: "\(.id)",
      sequence: .id,
      original_time: .occurred_at
    },
    actor: (if $request or $refused then
              { user: { name: $of.api_key_name, credential_uid: "\($of.api_key_id)", type_id: 99, type: "API key" } }
            else { app_name: "dbvitals" } end),
    src_endpoint: (if $request or ($refused and $of.source_ip) then { ip: $of.source_ip } else { svc_name: "dbvitals" } end),
    dst_endpoint: { svc_name: "dbvitals" },
    api: ({ operation: (if $request then "\($of.method) \(.page_path)" else .action_type end),
            service: { name: "dbvitals" }, version: "v1" }
          + if $request then { request: { uid: $of.request_id },
                               response: { code: $of.status, error: $of.error_code } } else {} end)
  }
+ if $request then
    {
      status_code: "\($of.status)",
      status_detail: $of.error_code,
      http_request: { http_method: $of.method, user_agent: $of.user_agent, uid: $of.request_id,
                      url: { path: .page_path,
                             query_string: ($of.query | to_entries | map("\(.key | @uri)=\(.value | @uri)") | join("&")) } },
      http_response: { code: $of.status }
    }
  else { unmapped: ($of + { page_path: $entry.page_path }) }
  end
# OCSF omits unknown fields.
| del(.. | nulls)
