import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { splitMentions } from '../../platform/text/mentions.ts';
import { one } from '../../store/one.ts';
import { type CommentRow, commentColumns, MOST_COMMENTS, requireComment } from './comment-row.ts';

const selectTicket = `
  select t.connection_id, t.check_id, t.severity, t.title,
         (select count(*)::integer from ticket_comment k where k.account_id = $1 and k.ticket_id = t.ticket_id) as comments
    from ticket t
   where t.account_id = $1 and t.ticket_id = $2`;

const selectMembers = `select member_id as id, name from member where account_id = $1 and status = 'active'`;

const insert = `
  with k as (
    insert into ticket_comment (account_id, ticket_id, author_id, author, body, mentions, created_at)
    values ($1, $2, $3, $4, $5, $6, $7)
    returning *
  )
  select ${commentColumns} from k`;

interface CommentedTicket {
  connection_id: number;
  check_id: string;
  severity: string;
  title: string;
  comments: number;
}

/**
 * Comments on a ticket, in any state. Active members whose names follow an `@` are mentioned; of several of one name, each.
 * The log entry names them, but has no text: a comment can be removed, and an entry can't. `authorId` is null for the
 * command line. Throws `notFound`, and a {@link Rejection} for a wrong text or too many comments.
 */
export function addComment(
  change: ChangeAccount,
  ticketId: number,
  { authorId, text }: { authorId: number | null; text: string },
): Promise<CommentRow> {
  const body = requireComment(text);
  return change(async ({ accountId, client, at, author, record }) => {
    const [ticket] = (await client.query<CommentedTicket>(selectTicket, [accountId, ticketId])).rows;
    if (!ticket) throw notFound();
    const { comments, ...about } = ticket;
    if (comments >= MOST_COMMENTS) {
      throw new Rejection('conflict', `A ticket has at most ${MOST_COMMENTS} comments: remove some first.`);
    }
    const { rows: members } = await client.query<{ id: number; name: string }>(selectMembers, [accountId]);
    const parts = splitMentions(
      body,
      members.map(({ name }) => name),
    );
    const names = new Set(parts.map(({ name }) => name));
    const mentioned = members.filter(({ name }) => names.has(name));
    const ids = mentioned.map(({ id }) => id);
    const values = [accountId, ticketId, authorId, author, body, ids, at];
    const comment = one((await client.query<CommentRow>(insert, values)).rows, 'store a comment');
    record('ticket_commented', `/tickets?ticket=${ticketId}`, {
      ticket_id: ticketId,
      ...about,
      comment_id: comment.id,
      mentions: mentioned.map(({ id, name }) => ({ member_id: id, name })),
    });
    return comment;
  });
}
