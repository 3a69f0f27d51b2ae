#!/usr/bin/env bash
# A store's whole life: a version before this one made it; installed from the package, upgraded, provisioned, under load, backed up, lost,
# restored, verified. On Linux, in a checkout with its history, after `npm ci`.
set -euo pipefail
cd "$(dirname "$0")/.."
checkout=$PWD
# npm finds the machine's settings beside the Node that it came with, and not below another prefix.
outside=$PATH
npm() { PATH=$outside command npm "$@"; }
npm_config_globalconfig=$(npm config get globalconfig)
export npm_config_globalconfig
PATH="$checkout/node_modules/.bin:$PATH"
life=$(mktemp -d)
chmod 711 "$life"
service=
finish() {
  [ -z "$service" ] || kill "$service" 2>/dev/null || true
  rm -rf "$life"
}
trap finish EXIT

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

# Starts `$@`, sets $service and $origin.
serve() {
  PORT=0 LOG_LEVEL=warn "$@" >"$life/said" &
  service=$!
  for _ in $(seq 600); do
    origin=$(sed -n 's/^dbvitals is ready on //p' "$life/said")
    [ -n "$origin" ] && return
    kill -0 "$service"
    sleep 0.1
  done
  return 1
}

end() {
  kill "$service"
  wait "$service"
  service=
}

ask() { curl --silent --fail --config asked "$origin/api/v1/$1"; }

# The id of the account's newest entry.
newest() { dbvitals activity tail --account "$account" | tail -n 1 | sed 's/^{"id":\([0-9]*\),.*/\1/'; }

step 'a store of the version before'
# A tag, or else the newest commit whose migrations are the first of today's: one that was renamed or edited since is no version.
previous=$(git describe --tags --abbrev=0 2>/dev/null) || previous=
migrations=$(ls migrations)
for commit in $([ -n "$previous" ] || git log --format=%H -- migrations); do
  then=$(git ls-tree --name-only "$commit^" migrations/ | sed 's#.*/##')
  first=$(head -n "$(wc -l <<<"$then")" <<<"$migrations")
  if [ "$then" = "$first" ] && [ "$then" != "$migrations" ] &&
    git diff --quiet "$commit^" HEAD -- $(sed 's#^#migrations/#' <<<"$then"); then
    previous=$commit^
    break
  fi
done
[ -n "$previous" ]
mkdir "$life/before"
git archive "$previous" | tar --extract --directory "$life/before"
(cd "$life/before" && npm ci --silent --omit=dev --ignore-scripts)
before() { node "$life/before/src/main.ts" "$@"; }
export DBVITALS_DATA_DIR="$life/data"
serve node "$life/before/src/main.ts" serve
before account create --name Example --plan enterprise --requests-per-minute 100000
before sample-data --account 2 --connections 20 --tickets 200 --activity 20000 --days 30
git log --format='of %h, %s' --max-count=1 "$previous"
ls "$life/before/migrations" | tail -n 1
end

step 'install'
package=$(node test/package/make.ts "$life")
npm install --silent --global --ignore-scripts --prefix "$life/installed" "$life/$package"
PATH="$life/installed/bin:$PATH"
cd "$life"
dbvitals --version

step 'upgrade'
dbvitals migrate --plan
serve dbvitals serve
grep store "$life/said"

step 'apply'
(umask 077 && mkdir secrets && printf %s 'unspoken' >secrets/shop.password)
cat >dbvitals.yaml <<'END'
accounts:
  - name: Example
    plan: enterprise
    requests_per_minute: 100000
    members:
      - { email: ada@example.com, name: Ada Example, roles: [owner] }
    connections:
      - name: shop
        url: postgres://dbvitals_watcher@127.0.0.1:1/shop
        password: { file: shop.password }
        every: 1h
END
dbvitals apply -f dbvitals.yaml --secrets-dir secrets
dbvitals apply -f dbvitals.yaml --secrets-dir secrets
account=2

step 'serve, under load'
key=$(dbvitals key create --account "$account" --name life --json | sed 's/.*"key":"\([^"]*\)".*/\1/')
first=$(newest)
# A key in an argument list is seen by everybody.
(umask 077 && printf 'header = "Authorization: Bearer %s"\n' "$key" >asked)
seq 16 | xargs -P 16 -I{} curl --silent --config asked --output /dev/null --write-out '%{http_code}\n' "$origin/api/v1/health/fleet#[1-250]" >answered
sort answered | uniq -c
[ "$(sort -u answered)" = 200 ]
written=$(dbvitals activity tail --account "$account" --after-id "$first" | grep -c '"page_path":"/api/v1/health/fleet"')
echo "$written entries written for them"
[ "$written" = "$(wc -l <answered)" ]
until ask health/fleet | grep -q '"never_run":0'; do sleep 1; done
ask health/fleet | tee fleet-before
dbvitals doctor || [ $? = 1 ]

step 'back up'
dbvitals activity seal --account "$account"
dbvitals backup store.backup
install -m 600 data/secret.key secret.key
last=$(newest)

step 'destroy'
kill -9 "$service"
service=
sleep 1
for pid in $(sed -n 1p data/postgres/postmaster.pid 2>/dev/null); do kill -9 "$pid" 2>/dev/null || true; done
rm -rf data
ls

step 'restore'
mkdir -m 711 data
install -m 600 secret.key data/secret.key
dbvitals restore store.backup

step 'verify'
dbvitals activity verify --account "$account"
serve dbvitals serve
[ "$(newest)" -ge "$last" ]
ask health/fleet >fleet-after
cmp fleet-before fleet-after
ask 'activity?per_page=1' | head -c 300
end
step 'done'
