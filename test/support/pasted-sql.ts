import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measured } from '../../src/monitor/nothing-measured.ts';
import type { Target } from '../../src/monitor/session/session.ts';

const CHECK_ID = /\b(?:PG|MY)_\w+/g;

const page = readFileSync(join(import.meta.dirname, '../../docs', 'least-privilege.md'), 'utf8');

/** The section of docs/least-privilege.md whose heading begins with the text. */
function partOf(heading: string): string {
  const part = page.split(/^## /m).find((text) => text.startsWith(heading));
  if (part === undefined) throw new Error(`docs/least-privilege.md has no part ${heading}.`);
  return part;
}

/** The statements of each SQL block in the section. */
export function pastedSql(heading: string): string[][] {
  return [...partOf(heading).matchAll(/^```sql\n([^`]*)^```$/gm)].map(([, block = '']) =>
    block
      .split(/;\n/)
      .map((statement) => statement.trim())
      .filter((statement) => statement !== ''),
  );
}

/** The login that the page creates, at a server's Unix socket. */
export function pastedLogin(at: Pick<Target, 'engine' | 'host' | 'port' | 'database'>): Target {
  return {
    ...at,
    connectionType: 'unix_socket',
    username: 'dbvitals_watcher',
    password: 'change-me',
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  };
}

/** The affected checks and missing grants in a run's finding about privileges. */
export function privilegesMissing({ outcomes }: Measured): {
  status: string;
  checks: string[];
  grants: string;
} {
  const finding = outcomes.find(({ check }) => /^(PG|MY)_PRIVILEGE_MISSING$/.test(check.id))?.findings[0];
  if (!finding) throw new Error('The finding about privileges is always there.');
  const { status, metric_line, remediation } = finding;
  return { status, checks: metric_line.match(CHECK_ID) ?? [], grants: remediation };
}

/** The page's table of skipped checks: the first cell of each row, and the check ids in the second. */
export function skippedWithout(heading: string): Map<string, string[]> {
  const rows = [...partOf(heading).matchAll(/^\| (?!without|---)([^|]+) \| ([^|]+) \|$/gm)];
  return new Map(rows.map(([, privilege = '', checks = '']) => [privilege, checks.match(CHECK_ID) ?? []]));
}
