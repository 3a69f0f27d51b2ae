/** A JSON Schema, or a part of one. */
type Json = Record<string, unknown>;

/** A reference to a component. */
export function ref(kind: 'schemas' | 'headers' | 'responses', name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

/**
 * Returns a copy of the schema in which each part with a title becomes a reference; the part is added to `components` under
 * its title. Throws if two different schemas have the same title.
 */
export function hoisted(schema: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoisted(part, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title, ...rest } = schema as Json;
  // A field may be named title. Then the value is a schema, not text.
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
