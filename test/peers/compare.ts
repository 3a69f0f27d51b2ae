import type { Finding } from '../../src/checks/check.ts';
import type { Service } from './tools.ts';

/** A finding of dbvitals, as stored. */
export type OurFinding = Finding;

/** The answer of a peer's service. `status` is its exit code: 0 ok, 1 warning, 2 critical, 3 unknown. */
export interface PeerAnswer {
  tool: string;
  service: Service;
  status: number;
  said: string;
}

const WORDS = ['ok', 'warning', 'critical', 'unknown'];

/**
 * Compares by kind of defect and, if a peer names objects, by object. Returns the lines to print and the number of
 * peers' alarms that dbvitals has no finding for and no argument against.
 */
export function compare(
  theirs: PeerAnswer[],
  findings: OurFinding[],
  made: { check_id: string; object: unknown }[],
): { lines: string[]; missed: number } {
  const faults = findings.filter(({ status }) => ['info', 'warning', 'critical'].includes(status));
  const rows = theirs.map((answer) => ({ answer, ...judge(answer, faults) }));
  const shared = new Set(rows.filter(({ alarm }) => alarm).flatMap(({ answer }) => answer.service.ours));
  const lines = [
    ...rows.map(({ answer, verdict }) =>
      [
        `${answer.tool} ${answer.service.name}`.padEnd(40),
        (WORDS[answer.status] ?? '').padEnd(9),
        verdict,
      ].join(' '),
    ),
    '',
    'found by dbvitals alone:',
    ...faults
      .filter(({ check_id }) => !shared.has(check_id))
      .map(({ check_id, object, metric_line }) => `  ${check_id.padEnd(26)} ${object ?? ''}: ${metric_line}`),
    '',
    `made, and not found by dbvitals: ${
      made
        .filter(({ check_id }) => !faults.some((fault) => fault.check_id === check_id))
        .map(({ check_id }) => check_id)
        .join(', ') || 'none'
    }`,
    `not measured by dbvitals: ${
      findings
        .filter(({ status }) => status === 'error' || status === 'skipped')
        .map(({ check_id, metric_line }) => `${check_id} (${metric_line})`)
        .join('; ') || 'none'
    }`,
  ];
  return { lines, missed: rows.filter(({ missing }) => missing).length };
}

interface Verdict {
  verdict: string;
  /** Whether the peer reports a defect. */
  alarm: boolean;
  /** Whether dbvitals lacks a finding for it, or for one of its objects. */
  missing: boolean;
}

function judge({ service, status, said }: PeerAnswer, faults: OurFinding[]): Verdict {
  const own = faults.filter(({ check_id }) => service.ours.includes(check_id));
  if (status === 0 || status === 3) {
    const first = said.split('\n').find((line) => /Message|UNKNOWN|ERROR|FATAL/.test(line)) ?? said;
    const reason =
      status === 3
        ? `it could not tell: ${first
            .replace(/^Message\s*: /, '')
            .trim()
            .slice(0, 90)}`
        : '';
    const alone = own.length > 0 ? `silent, where we say ${ids(own)}` : 'silent, as we are';
    return { verdict: reason || alone, alarm: false, missing: false };
  }
  if (own.length === 0 && service.argued) {
    return { verdict: `theirs alone, argued: ${service.argued}`, alarm: true, missing: false };
  }
  const objects = service.objects ? [...said.matchAll(service.objects)].map(([, name = '']) => name) : [];
  const lost = objects.filter((name) => !own.some((finding) => names(finding, name)));
  if (own.length === 0)
    return { verdict: `MISSED: ${service.ours.join(', ') || 'its kind'}`, alarm: true, missing: true };
  if (lost.length > 0) {
    return { verdict: `${ids(own)}, but MISSED the objects ${lost.join(', ')}`, alarm: true, missing: true };
  }
  const named = objects.length > 0 ? ` on ${[...new Set(objects)].join(', ')}` : '';
  return { verdict: `both: ${ids(own)}${named}`, alarm: true, missing: false };
}

function ids(findings: OurFinding[]): string {
  return [...new Set(findings.map(({ check_id }) => check_id))].join(', ');
}

/** Whether a finding is about the peer's object `name`, which has no quotes and possibly no schema. */
function names({ object, remediation, metric_line }: OurFinding, name: string): boolean {
  // A finding on a schema lists its objects in its line.
  return unquoted(`${object ?? remediation} ${metric_line}`).includes(name);
}

function unquoted(name: string): string {
  return name.replaceAll(/"((?:[^"]|"")*)"/g, (_, inside: string) => inside.replaceAll('""', '"'));
}
