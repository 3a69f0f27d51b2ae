import { Ajv } from 'ajv';
import { type ActionType, CATALOGUE, kindOfAction } from '../catalogue/catalogue.ts';
import type { ShownEntry } from './shown-entry.ts';

const ajv = new Ajv({ strict: false, formats: { 'date-time': true, int64: true } });

/** What is wrong with an entry by the catalogue: its type is unknown, or a property is missing, unknown or of another type. */
export function entryProblems({ action_type, properties }: ShownEntry): string[] {
  if (kindOfAction(action_type) === null) return [`${action_type} has no row in the catalogue`];
  const { properties: schema } = CATALOGUE[action_type as ActionType];
  const known = new Set([...Object.keys(schema.properties), ...ANY]);
  const unknown = Object.keys(properties).filter((name) => !known.has(name) && !OPEN.has(action_type));
  const validate = ajv.compile(schema);
  const wrong = validate(properties) ? [] : (validate.errors ?? []);
  return [
    ...wrong.map(({ instancePath, message }) => `${action_type}${instancePath} ${message}`),
    ...unknown.map((name) => `${action_type} has a property ${name}, which is not in the catalogue`),
  ];
}

const ANY = ['actor', 'actor_member_id', 'actor_name', 'source_ip', 'session_id'];
/** Has all settings of the rule. */
const OPEN = new Set(['alert_rule_added']);
