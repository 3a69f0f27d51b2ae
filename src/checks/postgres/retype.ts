/**
 * SQL that is true if `ALTER COLUMN … TYPE` of the column would fail, or change more than the type: an inherited column, as
 * those of a partition are, or one that {@link isUsedElsewhere}.
 */
export function refusesRetype(relation: string, attnum: string): string {
  return `(exists (select from pg_attribute retyped
                    where retyped.attrelid = ${relation} and retyped.attnum = ${attnum} and retyped.attinhcount > 0)
           or ${isUsedElsewhere(relation, attnum)})`;
}

/**
 * SQL that is true if the column is one of a typed table, of the partition key or of a domain, or if a view, a rule, a policy,
 * a trigger, a function, a publication, a generated column or another table's column of this row type uses it. `relation` and
 * `attnum` must not name a table by an alias of this statement.
 */
export function isUsedElsewhere(relation: string, attnum: string): string {
  return `(
           exists (select from pg_attribute retyped
                     join pg_class of_it on of_it.oid = retyped.attrelid
                     join pg_type its_type on its_type.oid = retyped.atttypid
                    where retyped.attrelid = ${relation} and retyped.attnum = ${attnum}
                      and (of_it.reloftype <> 0 or its_type.typbasetype <> 0
                           or exists (select from pg_depend row_use
                                       where row_use.refclassid = 'pg_type'::regclass and row_use.refobjid = of_it.reltype
                                         and row_use.classid = 'pg_class'::regclass and row_use.objsubid > 0)))
           or exists (select from pg_partitioned_table parted
                       where parted.partrelid = ${relation}
                         and (${attnum} = any (parted.partattrs::int2[]) or parted.partexprs is not null))
           or exists (select from pg_depend used
                       where used.refclassid = 'pg_class'::regclass and used.refobjid = ${relation} and used.refobjsubid = ${attnum}
                         and (used.classid in ('pg_rewrite'::regclass, 'pg_policy'::regclass, 'pg_trigger'::regclass,
                                               'pg_proc'::regclass, 'pg_publication_rel'::regclass)
                              or exists (select from pg_attrdef default_of
                                          where used.classid = 'pg_attrdef'::regclass and default_of.oid = used.objid
                                            and (default_of.adrelid, default_of.adnum) <> (${relation}, ${attnum}))))
         )`;
}

/**
 * Steps for columns that refuse a new type. `table` is the table's name as a literal; `statements` change the type once
 * nothing uses the columns.
 */
export function retypeSteps(table: string, statements: string): string {
  return `SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend WHERE refobjid = ${table}::regclass AND deptype = 'n'; -- then drop the views and others that use the column, run ${statements} and create them again; the columns of a partition are changed in its parent`;
}
