// All comparisons fold the case of ASCII letters only. PostgreSQL, JavaScript and identity providers disagree on other
// letters: some fold U+212A, KELVIN SIGN, to a k.

/** Folds an e-mail address for comparison. */
export function foldEmail(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** SQL equivalent of {@link foldEmail} for an expression of type text. */
export function foldedEmail(expression: string): string {
  return `lower(${expression} collate "C")`;
}
