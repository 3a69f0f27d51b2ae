// What only rows of sample data have, so that nothing else is removed with them.

/** Who wrote its own check. One that a member changed is theirs. */
export const SAMPLE_AUTHOR = 'sample data';

/** The id of its own check. */
export const SAMPLE_CHECK = 'ORDERS_STUCK';

/** Where its destination sends to. example.com belongs to nobody. */
export const SAMPLE_TARGET = 'https://chat.example.com';
