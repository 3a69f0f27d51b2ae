import { CHANGES, lineText, OPEN, REMEDIATION, type Report } from '../report/report.ts';
import type { Summary } from '../summary.ts';

/** A message as plain text. */
export function textPart({ heading, full, lines, more, footer }: Summary): string {
  const isOne = full.length === 1 && lines.length === 0 && more === null;
  const others = [
    ...lines.map((report) => `- ${lineText(report)}\n  ${report.url}`),
    ...(more === null ? [] : [more]),
  ];
  return [
    ...(isOne ? [] : [heading]),
    ...full.map(section),
    ...(others.length > 0 ? [others.join('\n')] : []),
    footer,
  ].join('\n\n');
}

function section({ heading, note, facts, changes, remediation, url }: Report): string {
  return [
    `${heading}\n${'='.repeat(Math.min(heading.length, 72))}`,
    ...(note === null ? [] : [note]),
    facts.map(({ name, text }) => `${name}: ${text}`).join('\n'),
    ...(changes.length > 0 ? [`${CHANGES}:\n${changes.map((change) => `- ${change}`).join('\n')}`] : []),
    ...(remediation === null ? [] : [`${REMEDIATION}:\n\n${indent(remediation)}`]),
    `${OPEN}: ${url}`,
  ].join('\n\n');
}

function indent(code: string): string {
  return code.replace(/^/gm, '    ');
}

/** The text with the recipient's own link at its end. */
export function withLink(text: string, unsubscribe: string): string {
  return `${text}\nUnsubscribe: ${unsubscribe}\n`;
}
