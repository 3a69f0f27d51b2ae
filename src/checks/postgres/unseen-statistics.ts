/**
 * Expression of a bloat estimate: why the statistics that it needs are hidden; null if they are not. Its row has
 * `known` and `fields` (columns with statistics, and all), `reltuples`, `readable`, `secured`.
 */
export const unseenStatistics = `
           case when known = fields or reltuples = 0 then null
                when not readable then 'Not measured: the statistics of some tables are hidden.'
                when secured then 'Not measured: row-level security hides the statistics of some tables.'
                when known = 0 then 'Not measured: some tables were never analyzed. Run ANALYZE;'
           end`;

/** Expression over the rows of `judged` (`nspname`, `unseen`, `readable`): the GRANT that would let them be seen. */
export const grantTables = `
         case when unseen is not null and not readable
                then format('GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %I;',
                            (select string_agg(distinct quote_ident(nspname), ', ') from judged
                              where unseen is not null and not readable),
                            current_user)
         end`;
