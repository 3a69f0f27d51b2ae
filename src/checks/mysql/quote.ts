/** A name as MySQL quotes it: `` `a``b` ``. Names joined by a point: `` `shop`.`orders` ``. */
export function quoted(...names: string[]): string {
  return names.map((name) => `\`${name.replaceAll('`', '``')}\``).join('.');
}
