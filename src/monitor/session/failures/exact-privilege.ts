import type { Row } from '../../../checks/fault.ts';
import { literal, quotedName } from '../../../checks/postgres/server-texts.ts';
import { deniedObject } from './lacking-privilege.ts';

// The message has neither the schema nor the arguments, without which GRANT may not find a function. Checks read the server's
// own objects and those of extensions. What pg_monitor may do is not granted one by one.
const isOurs = (catalog: string, oid: string) =>
  `(n.nspname = 'pg_catalog'
          or exists (select from pg_depend d
                      where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e'))`;

const functions = (name: string) => `
  select n.nspname::text as schema, p.proname::text as name,
         (select coalesce(json_agg(json_build_array(tn.nspname, t.typname) order by place), '[]')::text
            from unnest(p.proargtypes) with ordinality as argument (type, place)
            join pg_type t on t.oid = argument.type
            join pg_namespace tn on tn.oid = t.typnamespace) as arguments,
         has_function_privilege('pg_monitor', p.oid, 'execute') and not pg_has_role('pg_monitor', 'usage') as of_monitor
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where p.proname = ${name}
     and not has_function_privilege(p.oid, 'execute')
     and ${isOurs('pg_proc', 'p.oid')}
   limit 10`;

const relations = (name: string) => `
  select n.nspname::text as schema, c.relname::text as name, null as arguments,
         has_table_privilege('pg_monitor', c.oid, 'select') and not pg_has_role('pg_monitor', 'usage') as of_monitor
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
   where c.relname = ${name}
     and not has_table_privilege(c.oid, 'select')
     and ${isOurs('pg_class', 'c.oid')}
   limit 10`;

/**
 * What to grant after PostgreSQL denied a statement, by its catalogs: each object with its schema, and a function with its
 * arguments. Undefined if the error is another, or the catalogs do not tell. `read` runs a statement.
 */
export async function exactPrivilege(
  error: unknown,
  read: (statement: string) => Promise<Row[]>,
): Promise<string[] | undefined> {
  const denied = deniedObject(error);
  if (!denied) return undefined;
  const { kind, name } = denied;
  if (kind === 'schema') return [`USAGE ON SCHEMA ${quotedName(name)}`];
  const statement = kind === 'function' ? functions(literal(name)) : relations(literal(name));
  const rows = await read(statement).catch((): Row[] => []);
  const privileges = new Set(
    rows.map((row) => (row['of_monitor'] === true ? 'pg_monitor' : privilegeOn(row))),
  );
  return privileges.size === 0 ? undefined : [...privileges];
}

function privilegeOn(row: Row): string {
  const object = `${quotedName(String(row['schema']))}.${quotedName(String(row['name']))}`;
  if (row['arguments'] === null) return `SELECT ON TABLE ${object}`;
  return `EXECUTE ON FUNCTION ${object}(${typesIn(row['arguments']).join(', ')})`;
}

function typesIn(json: unknown): string[] {
  const types: unknown = JSON.parse(String(json));
  if (!Array.isArray(types)) return [];
  return types.map((type) => [type].flat().map(String).map(quotedName).join('.'));
}
