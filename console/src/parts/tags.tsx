import './tags.css';
import { ENVIRONMENT, isEnvironment } from '../../../src/platform/text/tags.ts';

/** What a field for tags says. */
export const TAGS_HELP =
  'Labels or key:value, separated by spaces: env:production team:shop pci. env: is the environment';

/** The tags that are typed in a field, separated by spaces or commas. */
export function tagsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** Tags, the environment first, which is shown without its key. */
export function Tags({ tags, most = tags.length }: { tags: readonly string[]; most?: number }) {
  const ordered = [...tags.filter(isEnvironment), ...tags.filter((tag) => !isEnvironment(tag))];
  const left = ordered.length - most;
  return (
    <span className="tag-list">
      {ordered.slice(0, most).map((tag) => (
        <TagMark key={tag} tag={tag} />
      ))}
      {left > 0 && (
        <span className="tag more-tags" title={ordered.slice(most).join(' ')}>
          +{left}
          <span className="hidden-text"> more tags</span>
        </span>
      )}
    </span>
  );
}

function TagMark({ tag }: { tag: string }) {
  if (!isEnvironment(tag)) return <bdi className="tag">{tag}</bdi>;
  return (
    <span className="tag environment-tag" title={tag}>
      <span className="hidden-text">Environment: </span>
      <bdi>{tag.slice(ENVIRONMENT.length + 1)}</bdi>
    </span>
  );
}
