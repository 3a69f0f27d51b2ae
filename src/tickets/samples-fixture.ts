import type { TestStore } from '../../test/support/store.ts';
import type { Finding, Outcome } from '../checks/check.ts';
import { inTransaction } from '../store/connect.ts';
import { planTickets } from './plan-tickets.ts';
import { listStandingTickets, recordFindings } from './record-findings.ts';

/** How bad a finding is. */
export type Level = 'critical' | 'warning' | 'info';

/** What one run finds: object to level, or why nothing was measured. */
export interface Sample {
  hour: number;
  found?: Record<string, Level>;
  near?: string[];
  status?: 'error' | 'skipped' | 'unreachable';
  truncated?: boolean;
}

const check = (volatile: boolean) =>
  ({
    id: 'PG_TEST',
    category: 'schema',
    title: 'Test',
    maxSeverity: 'critical',
    volatile,
  }) as const;

/** What the harness makes of a sample. */
export function outcomes(
  volatile: boolean,
  { found = {}, near = [], status, truncated = false }: Sample,
): Outcome[] {
  if (status === 'unreachable') return [];
  const { id: check_id, category, title, maxSeverity } = check(volatile);
  const finding = (object: string | null, level: Finding['status']): Finding => ({
    check_id,
    category,
    title,
    status: level,
    metric_line: `${object} is ${level}`,
    remediation: 'fix',
    severity: level === 'critical' || level === 'warning' || level === 'info' ? level : maxSeverity,
    database: 'shop',
    object,
  });
  const faults = Object.entries(found).map(([object, level]) => finding(object, level));
  return [
    {
      check: check(volatile),
      findings: faults.length > 0 ? faults : [{ ...finding(null, status ?? 'ok'), database: '' }],
      measured: status === undefined,
      unmeasured: truncated || status ? ['shop'] : [],
      near: near.map((object) => ({ database: 'shop', object })),
    },
  ];
}

/** Runs the samples in turn on a fresh connection; what each did, as "opened t" or "resolved t". */
export async function playSamples(
  store: TestStore,
  volatile: boolean,
  samples: Sample[],
): Promise<{ entries: string[][]; tickets: unknown[] }> {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  let previous: Finding[] = [];
  const recorded: string[][] = [];
  for (const sample of samples) {
    const scope = {
      accountId,
      connectionId,
      at: new Date(Date.UTC(2026, 0, 1) + sample.hour * 3_600_000).toISOString(),
    };
    const found = outcomes(volatile, sample);
    recorded.push(
      await inTransaction(store.writer, async (client) => {
        const tickets = await listStandingTickets(client, scope);
        const entries = await recordFindings(client, scope, planTickets(found, previous, tickets));
        return entries.map(({ actionType }) => actionType.replace('ticket_', ''));
      }),
    );
    previous = found.flatMap(({ findings }) => findings);
  }
  const { rows } = await store.writer.query(
    `select object, status, severity, metric_line, clean_runs, cardinality(reopened_at) as turns,
            extract(epoch from first_seen_at - '2026-01-01Z')::int / 3600 as first_hour,
            extract(epoch from last_seen_at - '2026-01-01Z')::int / 3600 as last_hour,
            extract(epoch from resolved_at - '2026-01-01Z')::int / 3600 as resolved_hour
       from ticket where account_id = $1 order by ticket_id`,
    [accountId],
  );
  return { entries: recorded, tickets: rows };
}
