/**
 * Condition: with index `i` (a row of pg_index) PostgreSQL finds the rows that refer to another table by foreign key `k` (a
 * row of pg_constraint). The columns may be in any order, as long as they come first. A predicate that only says that one
 * of them is not null hides no referencing row. Of a temporal key (since 18) the columns before the period must come first.
 * PostgreSQL looks by the collation of the column, so an index by another one does not help.
 */
export function findsReferences(i: string, k: string, version: number): string {
  const temporal = version >= 180_000 ? `${k}.conperiod` : 'false';
  const columns = keyColumns(k, version);
  return `(${i}.indclass::oid[])[0] in (select o.oid from pg_opclass o join pg_am am on am.oid = o.opcmethod
                                         where am.amname in ('btree', 'hash') or am.amname = 'gist' and ${temporal})
              and ${i}.indnkeyatts >= cardinality(${columns})
              and (${i}.indkey::int2[])[0 : cardinality(${columns}) - 1] @> ${columns}
              and not exists (select from unnest(${i}.indkey::int2[], ${i}.indcollation::oid[])
                                     with ordinality as indexed (attnum, coll, place)
                               join pg_attribute its on its.attrelid = ${i}.indrelid and its.attnum = indexed.attnum
                              where indexed.place <= cardinality(${columns}) and indexed.coll <> its.attcollation)
              and (${i}.indpred is null
                   or ${i}.indpred::text ~ ('^\\{NULLTEST :arg \\{VAR [^{}]*:varattno ('
                                         || array_to_string(${k}.conkey, '|') || ') [^{}]*\\} :nulltesttype 1 '))`;
}

/** The columns of a foreign key that an index must begin with: all but the period, which comes last. */
export function keyColumns(k: string, version: number): string {
  if (version < 180_000) return `${k}.conkey`;
  return `${k}.conkey[: cardinality(${k}.conkey) - ${k}.conperiod::int]`;
}

/** Condition: the server checks the foreign key `k`. Since 18 one may be NOT ENFORCED. */
export function isEnforced(k: string, version: number): string {
  return version >= 180_000 ? `${k}.conenforced` : 'true';
}
