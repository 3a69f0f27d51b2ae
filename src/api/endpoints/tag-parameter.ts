import { repeatedText } from '../../http/query-parameters.ts';
import { MOST_TAGS, normalisedTag, WRONG_TAG } from '../../platform/text/tags.ts';

/** `tag`, for lists of connections and of what connections have. */
export const tagParameter = {
  tag: repeatedText(
    'tag',
    `Restricts to connections with this tag. Repeat it for several, at most ${MOST_TAGS}: all must match.`,
    `must be a tag, at most ${MOST_TAGS} times. ${WRONG_TAG}`,
    { most: MOST_TAGS, check: { format: 'tag' }, parse: (tag) => normalisedTag(tag) ?? tag },
  ),
};
