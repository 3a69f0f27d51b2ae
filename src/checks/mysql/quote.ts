/** A name as MySQL quotes it: `` `a``b` ``. Names are joined by a dot: `` `shop`.`orders` ``. */
export function quoted(...names: string[]): string {
  return names.map((name) => `\`${name.replaceAll('`', '``')}\``).join('.');
}

/** A text as a literal that means the same with and without NO_BACKSLASH_ESCAPES: `'app'`, `0x6f276e65` for `o'ne`. */
export function literal(text: string): string {
  return /['\\]/.test(text) ? `0x${Buffer.from(text).toString('hex')}` : `'${text}'`;
}
