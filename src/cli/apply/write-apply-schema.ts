import { writeFileSync } from 'node:fs';
import { everyCheck } from '../../checks/catalogue.ts';
import { configurationSchema } from './configuration-schema.ts';

const FILE = new URL('../../../dbvitals.schema.json', import.meta.url);

/** The JSON Schema of what `apply` reads, as `dbvitals.schema.json` has it; of a draft that every editor knows. */
export function applySchemaText(): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...configurationSchema(everyCheck) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(FILE, applySchemaText());
