import { type Command, Option } from 'commander';
import { normalisedTag, WRONG_TAG } from '../platform/text/tags.ts';
import { UsageError } from './usage-error.ts';

/** Parser of a repeatable option that names a tag. */
function tagsOf(text: string, before: readonly string[] = []): readonly string[] {
  const tag = normalisedTag(text);
  if (tag === null) throw new UsageError(WRONG_TAG);
  return [...new Set([...before, tag])];
}

/** Adds a repeatable option whose value is a tag. */
export function addTagOption(command: Command, flags: string, description: string): Command {
  return command.addOption(new Option(flags, `${description}; may be repeated`).argParser(tagsOf));
}

/** The help of a filter by tags. */
export const TAG_FILTER =
  'only connections with this tag, such as env:production; tags of one key are alternatives';
