/** The fragment of a link to the comparison of two runs on a connection's page, which scrolls to it. */
export const COMPARED = 'compared';
