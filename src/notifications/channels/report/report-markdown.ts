import { codeBlock, escapeMarkdown } from '../escape-markdown.ts';
import { CHANGES, lineText, OPEN, REMEDIATION, type Report } from './report.ts';

const LINE = 120;

/** A report below its heading, in Markdown: note, facts, changes, what to do, and the link to the page. */
export function reportMarkdown({ note, facts, changes, remediation, url }: Report): string {
  return [
    ...(note === null ? [] : [note]),
    ...facts.map((fact) => `**${escapeMarkdown(fact.name)}:** ${escapeMarkdown(fact.text)}`),
    ...(changes.length > 0
      ? [`\n**${CHANGES}**`, ...changes.map((change) => `- ${escapeMarkdown(change)}`)]
      : []),
    ...(remediation === null ? [] : [`\n**${REMEDIATION}**`, codeBlock(remediation)]),
    `\n[${OPEN}](${url})`,
  ].join('\n');
}

/** A report as one line of a list in Markdown: its heading and object with the link. */
export function lineMarkdown(report: Report): string {
  return `- [${escapeMarkdown(lineText(report, LINE))}](${report.url})`;
}
