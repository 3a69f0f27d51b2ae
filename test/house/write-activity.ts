import { readFileSync, writeFileSync } from 'node:fs';
import { ACTION_GROUPS, ACTOR_PROPERTIES } from '../../src/activity/catalogue/action-kind.ts';
import { ACTION_TYPES, type ActionType, CATALOGUE } from '../../src/activity/catalogue/catalogue.ts';
import { exampleEntry, propertiesSchema } from '../../src/activity/catalogue/example-fixture.ts';
import { entryActor } from '../../src/activity/entry-actor.ts';
import { formatEntry } from '../../src/activity/formats/format.ts';

const PAGE = new URL('../../docs/reference/activity.md', import.meta.url);
const MARK = '<!-- Everything below is written by `npm run reference`. -->';

/** The page docs/reference/activity.md: keeps the text above its mark, and writes the action types below it. */
export function activityPage(): string {
  const [byHand = ''] = readFileSync(PAGE, 'utf8').split(MARK);
  return `${byHand}${MARK}\n\n${[index(), actorSection(), ...sections()].join('\n\n')}\n`;
}

/** One row for each type: what it means, and what the formats make of it. */
function index(): string {
  const rows = ACTION_TYPES.map((type) => {
    const { meaning } = CATALOGUE[type];
    return `| [\`${type}\`](#${type}) | ${plain(meaning)} | ${ocsfClass(type)} | ${ecsCategory(type)} | ${outcome(type)} |`;
  });
  return [
    '| action type | meaning | OCSF | ECS | outcome |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function ocsfClass(type: ActionType): string {
  const { class_uid, activity_id } = formatEntry('ocsf', exampleEntry(type), null) as Record<string, number>;
  return `${class_uid}, ${activity_id}`;
}

function ecsCategory(type: ActionType): string {
  const { event } = formatEntry('ecs', exampleEntry(type), null) as {
    event: { category: string[]; type: string[] };
  };
  return `${event.category.join(', ')}: ${event.type.join(', ')}`;
}

function outcome(type: ActionType): string {
  const { outcome: result } = CATALOGUE[type];
  return result === 'status' ? 'failure from status 400' : result;
}

function actorSection(): string {
  const rows = propertyRows(JSON.parse(JSON.stringify(ACTOR_PROPERTIES)), []);
  return [
    '## Properties of any entry',
    '',
    'Entries made by a member, at the command line or by a person have these.',
    '',
    ...rows,
  ].join('\n');
}

function sections(): string[] {
  return Object.entries(ACTION_GROUPS).flatMap(([group, title]) => [
    `## ${title}`,
    ...ACTION_TYPES.filter((type) => CATALOGUE[type].group === group).map(section),
  ]);
}

function section(type: ActionType): string {
  const { properties, required = [] } = propertiesSchema(type);
  const entry = exampleEntry(type);
  const { actor, target } = entryActor(type, entry.properties);
  const about = target === null ? 'No target' : `Target: \`${target.type}\``;
  return [
    `### ${type}`,
    '',
    `${plain(CATALOGUE[type].meaning)} ${about}. Actor of the example: \`${actor.type}\`.`,
    '',
    ...propertyRows(properties, required),
    '',
    '```json',
    JSON.stringify(entry, null, 1),
    '```',
  ].join('\n');
}

type Properties = ReturnType<typeof propertiesSchema>['properties'];

function propertyRows(properties: Properties, required: readonly string[]): string[] {
  const rows = Object.entries(properties).map(([name, { type, description }]) => {
    const types = [type].flat().join(' or ');
    const presence = required.includes(name) ? 'always' : 'sometimes';
    return `| \`${name}\` | ${types} | ${presence} | ${plain(description)} |`;
  });
  return ['| property | type | present | meaning |', '| --- | --- | --- | --- |', ...rows];
}

/** Escapes text for a table of Markdown. */
function plain(text: string): string {
  return text.replace(/[<>|*[\]\\]/g, '\\$&');
}

if (import.meta.main) writeFileSync(PAGE, activityPage());
