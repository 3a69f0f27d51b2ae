/** The store has '' for no name, and answers have null. */
export const orNull = (text: string): string | null => (text === '' ? null : text);
