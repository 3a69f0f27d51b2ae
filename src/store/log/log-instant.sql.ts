/**
 * The earliest instant of the next entries after those up to `last`, in SQL. Each transaction has milliseconds of its own. So a
 * reader that sees one entry of a millisecond sees all of them, and no later entry is shown with a time that was read already.
 */
export const instantAfter = (last: string) =>
  `date_trunc('milliseconds', ${last}) + interval '1 millisecond'`;
