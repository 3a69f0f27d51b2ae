/** Such as `1,000` or `-12,500.5`. A leading zero makes the comma a decimal point: `0,125`. */
const GROUPED = /^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;

/**
 * The number in a field; null when empty, undefined when it is no number. Commas that separate groups of three digits are
 * ignored, any other comma is a decimal point.
 */
export function numberIn(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const number = Number(GROUPED.test(trimmed) ? trimmed.replaceAll(',', '') : trimmed.replace(',', '.'));
  return Number.isFinite(number) ? number : undefined;
}

/** What is wrong with the text of a number field; null when it is a number or empty. */
export function numberError(text: string): string | null {
  return numberIn(text) === undefined ? 'Enter a number.' : null;
}
