import { exactName } from '../../checks/mysql/exact-name.ts';
import { isMariaDb } from '../../checks/mysql/flavour.ts';
import { quoted } from '../../checks/mysql/quote.ts';
import { type Ask, type Fact, type Reading, textOf } from './facts.ts';
import { type Redact, redactDefault } from './redact.ts';
import { SCHEMA_LIMITS, schemaReadings, skippedSchema } from './schema-limits.ts';

const SYSTEM = `('mysql', 'information_schema', 'performance_schema', 'sys')`;

// What the login may see: after a GRANT or a REVOKE, nothing came or went.
const privileges = (grantee: string) => `
  select privilege_type as name, '' as part from information_schema.user_privileges where grantee = ${grantee}
  union all
  select privilege_type, table_schema from information_schema.schema_privileges where grantee = ${grantee}
  union all
  select privilege_type, concat(table_schema, '.', table_name) from information_schema.table_privileges
   where grantee = ${grantee}
   order by 1, 2
   limit 5000`;

const count = `select count(*) as tables from information_schema.tables where table_schema not in ${SYSTEM}`;

// Of more tables, MariaDB's row formats and the types and directions of indexes are not read: it opens each table for them.
const OPENED = 2_000;

const tables = (rowFormat: string) => `
  select table_schema as s, table_name as t, concat_ws(' ', engine, ${rowFormat}table_collation) as value
    from information_schema.tables
   where table_schema not in ${SYSTEM} and table_type = 'BASE TABLE'
   limit ${SCHEMA_LIMITS.tables + 1}`;

const columns = `
  select table_schema as s, table_name as t, column_name as name,
         concat(column_type, if(is_nullable = 'NO', ' not null', ''),
                if(extra in ('', 'NULL', 'DEFAULT_GENERATED'), '', concat(' ', lower(extra))),
                if(column_default is null, '', concat(' default ', LITERAL))) as value
    from information_schema.columns
   where table_schema not in ${SYSTEM}
   limit ${SCHEMA_LIMITS.facts + 1}`;

const indexes = (expression: string, opens: boolean) => {
  const type = opens ? `lower(min(index_type)), ' ', ` : '';
  const direction = opens ? `, if(collation = 'D', ' desc', '')` : '';
  return `
  select table_schema as s, table_name as t, index_name as name,
         concat(if(min(non_unique) = 0, 'unique ', ''), ${type}'(',
                group_concat(concat(coalesce(column_name, ${expression}), if(sub_part is null, '', concat('(', sub_part, ')'))${direction})
                             order by seq_in_index separator ', '), ')') as value
    from information_schema.statistics
   where table_schema not in ${SYSTEM}
   group by 1, 2, 3
   limit ${SCHEMA_LIMITS.facts + 1}`;
};

// InnoDB's own dictionary: REFERENTIAL_CONSTRAINTS of MariaDB opens every table. Gathered by a union, because MariaDB would
// compare all pairs in a join.
const foreignKeys = (prefix: string) => `
  select id, max(for_name) as child, max(ref_name) as parent, max(type) as type,
         group_concat(own order by pos separator ', ') as own,
         group_concat(theirs order by pos separator ', ') as theirs
    from (select ${exactName('id')} as id, for_name, ref_name, type, null as own, null as theirs, null as pos
            from information_schema.${prefix}foreign
           union all
          select ${exactName('id')}, null, null, null, for_col_name, ref_col_name, pos
            from information_schema.${prefix}foreign_cols
         ) fact
   group by id
   limit ${SCHEMA_LIMITS.facts + 1}`;

/**
 * Reads the tables, columns, indexes and foreign keys of a MySQL or MariaDB server; says why, if it can't. A login for
 * monitoring does not see triggers.
 */
export async function readMysqlSchema(
  ask: Ask,
  redact: Redact,
  { version, me }: { version: number; me: string },
): Promise<Reading[]> {
  const maria = isMariaDb(version);
  const grantee = `0x${Buffer.from(me).toString('hex')}`;
  const until = performance.now() + SCHEMA_LIMITS.milliseconds;
  const limited = async (statement: string) => {
    const left = Math.floor(until - performance.now());
    return left < 10 ? null : ask(limitedTo(left, statement, maria));
  };
  const seen = await limited(privileges(grantee));
  const [counted] = (seen && (await limited(count))) ?? [];
  const amount = Number(counted?.['tables']);
  if (amount > SCHEMA_LIMITS.tables)
    return skippedSchema('', `it has more than ${SCHEMA_LIMITS.tables} tables`);
  const opens = !maria || amount <= OPENED;
  const tableRows = seen && counted && (await limited(tables(opens ? 'row_format, ' : '')));
  const literal = maria
    ? 'column_default'
    : `if(extra like '%DEFAULT_GENERATED%', column_default, quote(column_default))`;
  const columnRows = tableRows && (await limited(columns.replace('LITERAL', literal)));
  const indexRows =
    columnRows &&
    (await limited(
      indexes(maria ? `'expression'` : `concat('expression ', left(sha2(expression, 256), 8))`, opens),
    ));
  if (!indexRows) return skippedSchema('', `it could not be read within ${SCHEMA_LIMITS.milliseconds} ms`);
  const foreignRows = await limited(foreignKeys(maria ? 'innodb_sys_' : 'innodb_'));
  const facts = [
    ...tableRows.map((row): Fact => ['table', tableOf(row), textOf(row['value'])]),
    ...columnRows.map((row): Fact => {
      const name = textOf(row['name']);
      const value = redactDefault(name, textOf(row['value']), redact);
      return ['column', `${tableOf(row)}.${quoted(name)}`, value, { of: tableOf(row) }];
    }),
    ...indexRows.map(
      (row): Fact => [
        'index',
        `${quoted(textOf(row['name']))} on ${tableOf(row)}`,
        textOf(row['value']),
        { of: tableOf(row) },
      ],
    ),
    ...(foreignRows ?? []).map(foreignKey),
  ];
  if (facts.length > SCHEMA_LIMITS.facts)
    return skippedSchema('', `it has more than ${SCHEMA_LIMITS.facts} columns, indexes and constraints`);
  const basis = [
    ...seen.map((row) => `${textOf(row['name'])} ${textOf(row['part'])}`),
    foreignRows ? 'foreign keys' : '',
    ...(opens ? [] : ['opens no table']),
  ];
  return schemaReadings('', facts, basis.join(','));
}

function limitedTo(milliseconds: number, statement: string, maria: boolean): string {
  return maria
    ? `set statement max_statement_time = ${milliseconds / 1_000} for ${statement.trim()}`
    : statement.replace(/\bselect\b/, `select /*+ max_execution_time(${milliseconds}) */`);
}

type Columns = Readonly<Record<string, unknown>>;

function tableOf(row: Columns): string {
  return quoted(textOf(row['s']), textOf(row['t']));
}

// Names of InnoDB's dictionary: `shop/orders`.
function foreignKey(row: Columns): Fact {
  const named = (column: string) => quoted(...textOf(row[column]).split('/'));
  const child = named('child');
  const value = `foreign key (${textOf(row['own'])}) references ${named('parent')} (${textOf(row['theirs'])}), type ${textOf(row['type'])}`;
  return [
    'constraint',
    `${quoted(textOf(row['id']).split('/').at(-1) ?? '')} on ${child}`,
    value,
    { of: child },
  ];
}
