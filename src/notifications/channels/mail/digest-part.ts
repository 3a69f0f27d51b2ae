import type { DigestReport } from '../report/digest-report.ts';
import { OPEN } from '../report/report.ts';
import { anchor, escapeHtml, LINK, page } from './html-part.ts';

/** A digest as plain text. */
export function digestPlain({ title, summary, parts, footer, url }: DigestReport): string {
  const listed = parts.map(({ heading, lines }) =>
    [heading, ...lines.map((line) => `- ${line.text}\n  ${line.url}`)].join('\n'),
  );
  return [title, summary.join('\n'), ...listed, `${OPEN}: ${url}`, footer].join('\n\n');
}

/** A digest as an HTML document. It loads nothing: no image, no style sheet, no script. */
export function digestHtml({ title, summary, parts, footer, url }: DigestReport): string {
  const inner = [
    `<h1 style="font-size: 20px">${escapeHtml(title)}</h1>`,
    ...summary.map((line) => `<p>${escapeHtml(line)}</p>`),
    ...parts.flatMap(({ heading, lines }) => [
      `<h2 style="font-size: 17px">${escapeHtml(heading)}</h2>`,
      `<ul>${lines.map((line) => `<li>${anchor(line.url, line.text)}</li>`).join('\n')}</ul>`,
    ]),
    `<p>${anchor(url, OPEN)}</p>`,
    `<hr><p style="color: #71717a; font-size: 13px">${escapeHtml(footer)}<br>${LINK}</p>`,
  ];
  return page(title, inner.join('\n'));
}
