import { Rejection } from '../../platform/rejection.ts';

/** The most characters of a comment. */
export const LONGEST_COMMENT = 4_000;

/** The most comments on a ticket. */
export const MOST_COMMENTS = 500;

/** A comment on a ticket: plain text of a member. */
export interface CommentRow {
  id: number;
  ticket_id: number;
  /** A member, who may have been removed since; null = the command line. */
  author_id: number | null;
  /** The author's name at that time. */
  author: string;
  body: string;
  created_at: Date;
  /** The names of the mentioned members that the account still has. */
  mentions: string[];
}

/** SQL: the columns of `ticket_comment k`. */
export const commentColumns = `
  k.comment_id as id, k.ticket_id, k.author_id, k.author, k.body, k.created_at,
  array(select m.name from member m where m.account_id = k.account_id and m.member_id = any(k.mentions) order by m.name) as mentions`;

// A page would not show them; tab and line feed are text.
const CONTROL = /(?![\n\t])[\p{Cc}\u2028\u2029]/gu;

/** A comment's text as it is stored. Throws a {@link Rejection} if it is empty or too long. */
export function requireComment(text: string): string {
  const body = text.toWellFormed().replaceAll('\r\n', '\n').replace(CONTROL, '').trim();
  if (body !== '' && body.length <= LONGEST_COMMENT) return body;
  throw new Rejection(
    'invalid_parameter',
    `Enter a comment of 1 to ${LONGEST_COMMENT.toLocaleString('en')} characters.`,
    { parameter: 'body' },
  );
}
