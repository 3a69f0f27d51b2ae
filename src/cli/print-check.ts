import { styleText } from 'node:util';
import type { Progress } from '../monitor/progress.ts';
import type { CheckedOnce } from './command.ts';

const STYLES = new Map<string, Parameters<typeof styleText>[0]>([
  ['critical', ['bold', 'red']],
  ['warning', 'yellow'],
  ['info', 'cyan'],
  ['error', 'magenta'],
  ['ok', 'green'],
  ['skipped', 'gray'],
]);

/** Prints a health check as a table, worst finding first, in colour on a terminal, and its cost. */
export function printCheck({ score, summary_text, checks, cost }: CheckedOnce): void {
  const rows = checks.map(({ status, check_id, ...finding }) => ({ ...finding, status, check: check_id }));
  const widths = {
    status: Math.max(6, ...rows.map(({ status }) => status.length)),
    check: Math.max(5, ...rows.map(({ check }) => check.length)),
  };
  const indent = ' '.repeat(widths.status + widths.check + 4);
  const lines = [
    `score ${score}: ${summary_text}`,
    '',
    `${'status'.padEnd(widths.status)}  ${'check'.padEnd(widths.check)}  finding`,
  ];
  for (const { status, check, title, metric_line, remediation } of rows) {
    const place = `${coloured(status, status.padEnd(widths.status))}  ${check.padEnd(widths.check)}`;
    lines.push(`${place}  ${title}: ${metric_line}`);
    const faulty = status === 'info' || status === 'warning' || status === 'critical';
    if (faulty && remediation !== '') lines.push(indent + remediation.replaceAll('\n', `\n${indent}`));
  }
  lines.push('', costLine(cost));
  process.stdout.write(`${lines.join('\n')}\n`);
}

function coloured(status: string, text: string): string {
  return styleText(STYLES.get(status) ?? 'reset', text, { stream: process.stdout });
}

function costLine({ milliseconds, statements, bytes }: CheckedOnce['cost']): string {
  return `Cost on the server: ${milliseconds} ms, ${statements} statements, ${Math.ceil(bytes / 1024)} kB read.`;
}

/**
 * Shows a run's progress in one line of the terminal, which `end` clears. Shows nothing when standard error is not a
 * terminal.
 */
export function progressLine(): { show: (progress: Progress) => void; end: () => void } {
  if (!process.stderr.isTTY) return { show() {}, end() {} };
  const write = (text: string) => process.stderr.write(`\r\u001b[2K${text}`);
  write('connecting …');
  return {
    show: ({ database, databases, checks }) => {
      const place = databases === 0 ? '' : `database ${database.number} of ${databases}, ${database.name}: `;
      write(`${place}check ${checks.done} of ${checks.all} …`);
    },
    end: () => write(''),
  };
}
