/** A JSON Schema, or a part of one. */
type Json = Record<string, unknown>;

/** A reference to a component. */
export function ref(kind: 'schemas' | 'headers' | 'responses', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/**
 * A copy of the schema in which every part that has a title is a reference, with that part put under its title into
 * `components`. Throws when two different schemas have one title.
 */
export function hoisted(schema: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoisted(part, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title, ...rest } = schema as Json;
  // A field may be named title: then it is a schema, not a text.
  const named = typeof title === 'string' ? rest : (schema as Json);
  const copy = Object.fromEntries(
    Object.entries(named).map(([name, part]) => [name, hoisted(part, components)]),
  );
  if (typeof title !== 'string') return copy;
  if (title in components && JSON.stringify(components[title]) !== JSON.stringify(copy)) {
    throw new Error(`two schemas are titled ${title}`);
  }
  components[title] = copy;
  return ref('schemas', title);
}
