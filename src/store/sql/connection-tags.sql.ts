/** SQL: the tags of `connection c`, sorted; an empty array without any. */
export const tagsOfConnection = `
  coalesce((select t.tags from connection_tags t
             where t.account_id = c.account_id and t.connection_id = c.connection_id), '{}')`;

/** SQL: whether a connection of the account $1 has all tags of a parameter. */
export const hasTags = (connectionId: string, tags: string) => `
  ${connectionId} in (select connection_id from connection_tags where account_id = $1 and tags @> ${tags}::text[])`;
