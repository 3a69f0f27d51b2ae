/** Every setting that dbvitals reads, except OpenTelemetry's. */
export const SETTING_NAMES = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'DBVITALS_ACTIVITY_DAYS',
  'DBVITALS_ALLOW_CONSOLE_SOCKETS',
  'DBVITALS_ALLOW_PRIVATE_DESTINATIONS',
  'DBVITALS_ALLOW_PRIVATE_TARGETS',
  'DBVITALS_API_KEY',
  'DBVITALS_BASE_PATH',
  'DBVITALS_CELLS_FILE',
  'DBVITALS_CORS_ORIGINS',
  'DBVITALS_DATA_DIR',
  'DBVITALS_DRAIN_SECONDS',
  'DBVITALS_MAIL_FROM',
  'DBVITALS_OIDC_CLIENT_ID',
  'DBVITALS_OIDC_CLIENT_SECRET',
  'DBVITALS_OIDC_CLIENT_SECRET_FILE',
  'DBVITALS_OIDC_ISSUER',
  'DBVITALS_POOLER_URL',
  'DBVITALS_PULSE',
  'DBVITALS_PUBLIC_URL',
  'DBVITALS_SEAL_FILE',
  'DBVITALS_SECRET_KEY',
  'DBVITALS_SECRET_KEY_FILE',
  'DBVITALS_SECRETS_DIR',
  'DBVITALS_SMTP_URL',
  'DBVITALS_SMTP_URL_FILE',
  'DBVITALS_TOKEN_COMMANDS_FILE',
  'DBVITALS_TRUST_PROXY',
  'HOST',
  'LOG_LEVEL',
  'METRICS_HOST',
  'METRICS_PORT',
  'PORT',
  'TLS_CERT_FILE',
  'TLS_KEY_FILE',
] as const;

const PREFIX = 'DBVITALS';

// Kubernetes sets them in every container of a namespace that has a service called "dbvitals" or "dbvitals-…".
const SERVICE_LINK = /_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT_[0-9]+_(TCP|UDP|SCTP)(_|$)/;
const SERVICE_LINK_VALUE = /^(tcp|udp|sctp):\/\//;

/**
 * Returns a sentence for each variable that looks like a misspelled setting, such as DBVITALS_DATADIR. Names that resemble no
 * setting are ignored, because platforms set variables of their own.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const strange = looksLikeOurs(name) && !SETTING_NAMES.some((known) => known === name);
    if (!strange || SERVICE_LINK.test(name) || SERVICE_LINK_VALUE.test(value)) return [];
    const closest = closestSetting(name);
    return closest === null ? [] : [`${name} is not a setting: did you mean ${closest}?`];
  });
}

// Settings without our prefix that no other program has.
const OWN_NAMES = SETTING_NAMES.filter((name) => /^(?:DATABASE_URL|METRICS|TLS_)/.test(name));

/** Whether a name begins with DBVITALS, or nearly so, or is one letter off a setting without that prefix. */
function looksLikeOurs(name: string): boolean {
  const [first = ''] = name.toUpperCase().split('_');
  if (first.length < name.length && editDistance(first, PREFIX) <= 2) return true;
  return OWN_NAMES.some((known) => editDistance(name.toUpperCase(), known) === 1);
}

/** The setting that begins with the name, or whose name differs in the fewest letters, at most a third of them; null = none. */
function closestSetting(name: string): string | null {
  const longer = SETTING_NAMES.find((known) => known.startsWith(`${name.toUpperCase()}_`));
  if (longer !== undefined) return longer;
  const bare = letters(name);
  let best: { known: string | null; distance: number } = { known: null, distance: bare.length / 3 };
  for (const known of SETTING_NAMES) {
    const distance = editDistance(bare, letters(known));
    if (distance <= best.distance && (best.known === null || distance < best.distance))
      best = { known, distance };
  }
  return best.known;
}

function letters(name: string): string {
  return name
    .toUpperCase()
    .replace(/^([^_]*)_/, (start, first) => (editDistance(first, PREFIX) <= 2 ? '' : start))
    .replaceAll('_', '');
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, its] of [...other].entries()) {
      const replaced = (row[j] ?? 0) + (letter === its ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
