// Spreadsheets read a text that begins with one of these characters as a formula; a leading apostrophe makes it text
// (OWASP, CSV injection).
const FORMULA = /^[=+\-@\t\r\n|%'＝＋－＠]/;

/** A text as a field of CSV. It is always quoted, so that no locale's separator splits it, and never a formula. */
export function csvText(text: string): string {
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
