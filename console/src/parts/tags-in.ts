import { MOST_TAGS, normalisedTag } from '../../../src/platform/text/tags.ts';

/** The tags of an untrusted list that commas separate, in their only form. */
export function tagsIn(text = ''): string {
  const tags = text.split(',').flatMap((tag) => normalisedTag(tag) ?? []);
  return [...new Set(tags)].slice(0, MOST_TAGS).join(',');
}
