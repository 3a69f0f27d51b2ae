import type { Read } from '../../store/read.ts';
import { type CommentRow, commentColumns, MOST_COMMENTS } from './comment-row.ts';

const select = `
  select ${commentColumns}
    from ticket_comment k
   where k.account_id = $1 and k.ticket_id = $2
   order by k.created_at, k.comment_id
   limit ${MOST_COMMENTS}`;

/** The comments on a ticket, the oldest first. */
export function listComments(read: Read, accountId: number, ticketId: number): Promise<CommentRow[]> {
  return read<CommentRow>(select, [accountId, ticketId]);
}
