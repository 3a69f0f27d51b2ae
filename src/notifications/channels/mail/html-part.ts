import { COLORS } from '../colors.ts';
import { CHANGES, lineText, OPEN, REMEDIATION, type Report } from '../report/report.ts';
import type { Summary } from '../summary.ts';

/** Where the recipient's own link goes. No text of strangers can hold it: there `<` is escaped. */
export const LINK = '<!--unsubscribe-->';

const BODY =
  'font-family: system-ui, sans-serif; font-size: 15px; line-height: 1.5; max-width: 42em; margin: 0 auto; padding: 16px';
const CODE =
  'font-family: ui-monospace, monospace; font-size: 13px; white-space: pre-wrap; background: #f4f4f5; color: #18181b; padding: 8px 12px';

/** A message as HTML. It loads nothing: no image, no style sheet, no script. */
export function htmlPart({ heading, full, lines, more, footer }: Summary): string {
  const isOne = full.length === 1 && lines.length === 0 && more === null;
  const listed = lines.map((report) => `<li>${anchor(report.url, lineText(report))}</li>`);
  const inner = [
    ...(isOne ? [] : [`<h1 style="font-size: 20px">${escapeHtml(heading)}</h1>`]),
    ...full.map(section),
    ...(listed.length > 0 ? [`<ul>${listed.join('\n')}</ul>`] : []),
    ...(more === null ? [] : [`<p>${escapeHtml(more)}</p>`]),
    `<hr><p style="color: #71717a; font-size: 13px">${escapeHtml(footer)}<br>${LINK}</p>`,
  ];
  return page(heading, inner.join('\n'));
}

/** A whole HTML document. `inner` is HTML. */
export function page(title: string, inner: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body style="${BODY}">
${inner}
</body>
</html>
`;
}

function section({ heading, tone, note, facts, changes, remediation, url }: Report): string {
  return [
    `<h2 style="font-size: 17px; border-left: 4px solid ${COLORS[tone]}; padding-left: 8px">${escapeHtml(heading)}</h2>`,
    ...(note === null ? [] : [`<p>${escapeHtml(note)}</p>`]),
    `<table role="presentation" cellpadding="2">${facts.map(row).join('\n')}</table>`,
    ...(changes.length > 0
      ? [`<h3 style="font-size: 15px">${CHANGES}</h3><ul>${changes.map(item).join('\n')}</ul>`]
      : []),
    ...(remediation === null
      ? []
      : [
          `<h3 style="font-size: 15px">${REMEDIATION}</h3><pre style="${CODE}">${escapeHtml(remediation)}</pre>`,
        ]),
    `<p>${anchor(url, OPEN)}</p>`,
  ].join('\n');
}

function row({ name, text }: Report['facts'][number]): string {
  return `<tr><td style="vertical-align: top; white-space: nowrap"><b>${escapeHtml(name)}</b></td><td>${escapeHtml(text)}</td></tr>`;
}

function item(text: string): string {
  return `<li>${escapeHtml(text)}</li>`;
}

/** A link. */
export function anchor(url: string, words: string): string {
  return `<a href="${escapeMarks(url)}">${escapeHtml(words)}</a>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text of strangers in HTML, without effect. What looks like an address is torn, so that mail programs make no link of it. */
export function escapeHtml(text: string): string {
  const torn = text.replace(/:\/\/|\bwww\./gi, (mark) => `${mark.slice(0, -1)}\u200b${mark.slice(-1)}`);
  return escapeMarks(torn);
}

function escapeMarks(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}

/** The document with the recipient's own link at its end. */
export function withLinkHtml(html: string, unsubscribe: string): string {
  return html.replace(LINK, () => anchor(unsubscribe, 'Unsubscribe'));
}
