import { writeFileSync } from 'node:fs';
import { everyCheck } from '../../checks/catalogue.ts';
import { configurationSchema } from './configuration-schema.ts';

const FILE = new URL('../../../dbvitals.schema.json', import.meta.url);

/**
 * The JSON Schema of the file that `apply` reads, as in `dbvitals.schema.json`. It uses a draft that every editor
 * supports.
 */
export function applySchemaText(): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...configurationSchema(everyCheck) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(FILE, applySchemaText());
