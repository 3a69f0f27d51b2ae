/** A tag is a label, such as `pci`, or `key:value`, such as `team:payments`. */
const TAG = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_./-]*(?::[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}_./:-]*)?$/u;

/** The key of the tag that names a connection's environment, such as `env:production`. */
export const ENVIRONMENT = 'env';

export const LONGEST_TAG = 100;
export const MOST_TAGS = 20;
/** Different tags of an account. */
export const MOST_DIFFERENT_TAGS = 1_000;

export const WRONG_TAG = `A tag is a label (pci) or a key and a value (team:payments): letters, digits and _ . / - without spaces, at most ${LONGEST_TAG} characters.`;

/**
 * A tag in its only form: trimmed, in lower case, and in Unicode's compatibility form, so that what looks the same is the
 * same tag. Null if it is none: then {@link WRONG_TAG} says why.
 */
export function normalisedTag(text: string): string | null {
  if (text.length > 4 * LONGEST_TAG) return null;
  const tag = text.normalize('NFKC').trim().toLowerCase().normalize('NFKC');
  return tag.length <= LONGEST_TAG && TAG.test(tag) ? tag : null;
}

/** The key of `key:value`; a label is its own key. */
export function tagKey(tag: string): string {
  const end = tag.indexOf(':');
  return end === -1 ? tag : tag.slice(0, end);
}

/** Whether a tag names an environment. */
export function isEnvironment(tag: string): boolean {
  return tag.startsWith(`${ENVIRONMENT}:`);
}

/** The environment of a connection with these tags; null = none. */
export function findEnvironment(tags: readonly string[]): string | null {
  const tag = tags.find(isEnvironment);
  return tag === undefined ? null : tag.slice(ENVIRONMENT.length + 1);
}

/**
 * A filter of connections by their tags. Tags of one key are alternatives, and each key must match:
 * `env:staging env:test team:shop` is the shop team's connections in staging or test. Without tags all pass.
 */
export function tagFilter(wanted: readonly string[]): (tags: readonly string[]) => boolean {
  const alternatives = [...Map.groupBy(wanted, tagKey).values()].map((ofKey) => new Set(ofKey));
  // It ends at the first key without a match, so a long filter costs no more than a connection's few tags.
  return (tags) => alternatives.every((ofKey) => tags.some((tag) => ofKey.has(tag)));
}
