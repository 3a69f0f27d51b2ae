#!/usr/bin/env bash
# Draws the last day of a metric as an SVG, with one line for each environment: the mean of its databases, by hour. The environment of a
# database is its tag env:….
#   DBVITALS_URL=… DBVITALS_HEADER=… chart.sh [METRIC] > chart.svg
# DBVITALS_HEADER names a file with the line "Authorization: Bearer <API_KEY>". Needs curl and jq.
set -euo pipefail
metric=${1:-cache_hit_ratio}

# After a 429, curl waits as Retry-After says.
ask() { curl -sSf --retry 5 -H "@$DBVITALS_HEADER" "$DBVITALS_URL/api/v1$1"; }

databases() {
  page=1
  while [ -n "$page" ]; do
    answer=$(ask "/health/connections?include=tags&per_page=100&page=$page")
    jq -r '.data[] | [.id, ([.tags[] | select(startswith("env:")) | ltrimstr("env:")] + ["none"])[0]] | @tsv' <<< "$answer"
    page=$(jq -r 'if .meta.has_more then .meta.page + 1 else "" end' <<< "$answer")
  done
}

databases | while IFS=$'\t' read -r id environment; do
  ask "/health/connections/$id/measures/history?metric=$metric&step=1h" |
    jq -c --arg environment "$environment" '.data[] | select(.value != null) | { at, value, $environment }'
done | jq -rs --arg metric "$metric" '
  def seconds: sub("\\.[0-9]+Z$"; "Z") | fromdate;
  def mean: add / length;
  if length == 0 then error("No database has measured \($metric) in the last day.") else . end
  | map(.at |= seconds)
  | (map(.at) | min) as $from | (map(.at) | max) as $to
  | group_by(.environment)
  | map({ name: .[0].environment, points: (group_by(.at) | map({ at: .[0].at, value: (map(.value) | mean) })) })
  | ([.[].points[].value] | min) as $least | ([.[].points[].value] | max) as $most
  | ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"] as $colours
  | def x: 80 + 560 * (. - $from) / ([$to - $from, 1] | max);
    def y: 280 - 230 * (. - $least) / ([$most - $least, 1e-9] | max);
    def clock: gmtime | strftime("%d %b %H:%M");
    def round4: . * 10000 | round / 10000;
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 320\" font-family=\"sans-serif\" font-size=\"12\">",
    "<title>\($metric | @html), mean by environment</title>",
    "<rect width=\"800\" height=\"320\" fill=\"white\"/>",
    "<text x=\"80\" y=\"25\" font-size=\"16\">\($metric | @html), mean by environment</text>",
    "<path d=\"M80 50V280H640\" fill=\"none\" stroke=\"#888\"/>",
    "<text x=\"74\" y=\"54\" text-anchor=\"end\">\($most | round4)</text>",
    "<text x=\"74\" y=\"284\" text-anchor=\"end\">\($least | round4)</text>",
    "<text x=\"80\" y=\"300\">\($from | clock)</text>",
    "<text x=\"640\" y=\"300\" text-anchor=\"end\">\($to | clock) UTC</text>",
    (to_entries[]
      | $colours[.key % 6] as $colour
      | "<polyline fill=\"none\" stroke=\"\($colour)\" stroke-width=\"2\" points=\"\(
          [.value.points[] | "\(.at | x | round),\(.value | y | round)"] | join(" "))\"/>",
        "<text x=\"655\" y=\"\(60 + 18 * .key)\" fill=\"\($colour)\">\(.value.name | @html) \(.value.points[-1].value | round4)</text>"),
    "</svg>"'
