import type { OwnCheck } from '../../checks/own/own-check.ts';
import { readOwnStatement } from '../../checks/own/own-statement.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { isPrintable } from '../../platform/text/clean-text.ts';
import { normalisedTag, WRONG_TAG } from '../../platform/text/tags.ts';

/** How rarely a statement may run, in seconds: a minute to a week. */
const EVERY_SECONDS = { least: 60, most: 7 * 86_400 };

/** How long a statement may take, in seconds. */
export const TIMEOUT_SECONDS = { usual: 5, most: 30 };

const LONGEST_REMEDIATION = 2_000;
const MOST_TAGS = 10;
const LARGEST = 1e15;

/** Throws a {@link Rejection} for an own check that can't be stored. Returns it as it is stored. */
export function requireOwnCheck(own: OwnCheck): OwnCheck {
  requireTexts(own);
  requireLevels(own);
  const { every, timeout } = own;
  const { least, most } = EVERY_SECONDS;
  if (every !== null && !isWhole(every, least, most))
    throw invalidParameter('every', 'The time between two readings is 1m to 7d.');
  if (!isWhole(timeout, 1, TIMEOUT_SECONDS.most))
    throw invalidParameter('timeout', `The time limit is 1s to ${TIMEOUT_SECONDS.most}s.`);
  const read = readOwnStatement(own.engine, own.sql);
  if ('problem' in read) throw invalidParameter('sql', read.problem);
  const tags = own.tags.map((tag) => normalisedTag(tag));
  if (tags.includes(null)) throw invalidParameter('tags', WRONG_TAG);
  if (tags.length > MOST_TAGS) throw invalidParameter('tags', `Name at most ${MOST_TAGS} tags.`);
  return { ...own, tags: [...new Set(tags.filter((tag) => tag !== null))].toSorted() };
}

function requireTexts({ id, title, database, remediation }: OwnCheck): void {
  if (!/^[A-Z][A-Z0-9_]{0,39}$/.test(id) || id.startsWith('OWN_'))
    throw invalidParameter(
      'id',
      'The id is 1 to 40 capital letters, digits and _, such as ORDERS_STUCK, without OWN_ at the start.',
    );
  if (title.trim() !== title || title.length < 1 || title.length > 100 || !isPrintable(title))
    throw invalidParameter('title', 'The title is 1 to 100 printable characters.');
  if (database !== null && (database.length < 1 || database.length > 63 || !isPrintable(database)))
    throw invalidParameter('database', 'The database is a name of 1 to 63 printable characters.');
  // Lines are all that a text may have besides characters that print.
  if (remediation.length > LONGEST_REMEDIATION || !isPrintable(remediation.replaceAll('\n', '')))
    throw invalidParameter(
      'remediation',
      `The remediation is at most ${LONGEST_REMEDIATION.toLocaleString('en-US')} printable characters.`,
    );
}

function requireLevels({ warning, critical, operator }: OwnCheck): void {
  if (warning === null && critical === null)
    throw invalidParameter('warning', 'Set warning, critical, or both.');
  for (const [name, level] of Object.entries({ warning, critical }))
    if (level !== null && !(Math.abs(level) <= LARGEST))
      throw invalidParameter(name, `The value of ${name} is a number from -1e15 to 1e15.`);
  if (warning === null || critical === null) return;
  if (operator === '>=' ? critical < warning : critical > warning)
    throw invalidParameter('critical', 'The critical level would be reached before the warning.');
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}
