// One form for all comparisons: letters of ASCII are folded, all others are exact. PostgreSQL, JavaScript and identity
// providers fold other letters each in their own way: U+212A, KELVIN SIGN, is a k to some.

/** The form in which an e-mail address is compared. */
export function foldEmail(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** SQL of {@link foldEmail} for an expression of type text. */
export function foldedEmail(expression: string): string {
  return `lower(${expression} collate "C")`;
}
