import { Type } from '../../../platform/schema/schema.ts';

const DESCRIPTION =
  'Names of connections, in which * is any text, or tags as tag:env:production; {name: …} is the connection of exactly this name, also with * or tag: in it (default: all; [] = none).';

const Exact = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 200, description: 'The exact name of a connection.' }) },
  { additionalProperties: false, description: 'One connection, by its exact name.' },
);

/** The schema of the connections of a destination, an alert rule or a maintenance window. */
export const scopeSchema = Type.Array(
  Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Exact], {
    description: 'A name, in which * is any text, a tag such as tag:env:production, or {name: …}.',
  }),
  { description: DESCRIPTION },
);
