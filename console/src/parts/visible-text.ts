/** Bidirectional control characters, which can make a text read differently. */
const TURNING = /\p{Bidi_Control}/gu;

/** Control characters that a page does not show, except tab and line feed. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\ufeff]/gu;

const escaped = (mark: string) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The text with bidirectional control characters escaped, such as `\u202e`. */
export function escapeTurning(text: string): string {
  return text.replace(TURNING, escaped);
}

/** A stranger's text as it is: characters that are not seen, or turn the text around them, are escaped. */
export function visibleText(text: string): string {
  return escapeTurning(text.replaceAll('\r\n', '\n').replace(UNSEEN, escaped));
}
