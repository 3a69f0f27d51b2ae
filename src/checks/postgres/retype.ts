/**
 * SQL that is true if `ALTER COLUMN … TYPE` of the column would fail, or change more than the type: a partition's or
 * inherited column, one of a typed table, of the partition key or of a domain, and one that a view, a rule, a policy, a
 * trigger, a function, a publication, a generated column or another table's column of this row type uses.
 */
export function refusesRetype(relation: string, attnum: string): string {
  return `(
           exists (select from pg_attribute a
                     join pg_class c on c.oid = a.attrelid
                     join pg_type t on t.oid = a.atttypid
                    where a.attrelid = ${relation} and a.attnum = ${attnum}
                      and (a.attinhcount > 0 or c.reloftype <> 0 or t.typbasetype <> 0
                           or exists (select from pg_depend d
                                       where d.refclassid = 'pg_type'::regclass and d.refobjid = c.reltype
                                         and d.classid = 'pg_class'::regclass and d.objsubid > 0)))
           or exists (select from pg_partitioned_table p
                       where p.partrelid = ${relation}
                         and (${attnum} = any (p.partattrs::int2[]) or p.partexprs is not null))
           or exists (select from pg_depend d
                       where d.refclassid = 'pg_class'::regclass and d.refobjid = ${relation} and d.refobjsubid = ${attnum}
                         and (d.classid in ('pg_rewrite'::regclass, 'pg_policy'::regclass, 'pg_trigger'::regclass,
                                            'pg_proc'::regclass, 'pg_publication_rel'::regclass)
                              or exists (select from pg_attrdef f
                                          where d.classid = 'pg_attrdef'::regclass and f.oid = d.objid
                                            and (f.adrelid, f.adnum) <> (${relation}, ${attnum}))))
         )`;
}

/**
 * Steps for columns that refuse a new type. `table` is the table's name as a literal; `statements` change the type once
 * nothing uses the columns.
 */
export function retypeSteps(table: string, statements: string): string {
  return `SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend WHERE refobjid = ${table}::regclass AND deptype = 'n'; -- then drop the views and others that use the column, run ${statements} and create them again; the columns of a partition are changed in its parent`;
}
