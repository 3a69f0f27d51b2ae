import type { ShownEntry } from '../formats/shown-entry.ts';
import { type ActionType, CATALOGUE, kindOfAction } from './catalogue.ts';

/** The JSON schema of the properties of a kind. */
interface PropertiesSchema {
  properties: Record<string, { type: string | string[]; description: string; examples: unknown[] }>;
  required?: string[];
}

/** The schema of the properties of a kind's entries. */
export function propertiesSchema(type: ActionType): PropertiesSchema {
  return JSON.parse(JSON.stringify(CATALOGUE[type].properties));
}

/** An entry of the kind, by the examples of the catalogue, made by a member unless the kind says who makes it. */
export function exampleEntry(type: ActionType, id = 41): ShownEntry {
  const { properties } = propertiesSchema(type);
  const own = Object.fromEntries(
    Object.entries(properties).map(([name, { examples }]) => [name, examples[0]]),
  );
  const byMember = { actor_member_id: 3, actor_name: 'Ada', source_ip: '192.0.2.7', session_id: 9 };
  const isByMember = kindOfAction(type)?.actor === 'command_line' && own['actor'] === undefined;
  const fromClient = kindOfAction(type)?.group === 'sign_in' ? { source_ip: '192.0.2.7' } : {};
  return {
    id,
    action_type: type,
    page_path: type === 'api_request' ? '/api/v1/activity' : '/activity',
    properties: { ...fromClient, ...own, ...(isByMember && byMember) },
    occurred_at: '2026-03-02T10:15:00.123Z',
  };
}
