import { anchor, escapeHtml, page } from '../../notifications/channels/mail/html-part.ts';
import type { DigestText } from './digest-text.ts';

/** A digest as an HTML document. It loads nothing: no image, no style sheet, no script. */
export function digestHtml({ title, summary, parts }: DigestText, consoleUrl: string): string {
  const inner = [
    `<h1 style="font-size: 20px">${escapeHtml(title)}</h1>`,
    ...summary.map((line) => `<p>${escapeHtml(line)}</p>`),
    ...parts.flatMap(({ heading, lines }) => [
      `<h2 style="font-size: 17px">${escapeHtml(heading)}</h2>`,
      `<ul>${lines.map(({ text, path }) => `<li>${anchor(consoleUrl + path, text)}</li>`).join('\n')}</ul>`,
    ]),
    `<hr><p>${anchor(`${consoleUrl}/fleet`, 'Open the fleet')}</p>`,
  ];
  return page(title, inner.join('\n'));
}
