import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';

const selectComment = `
  select ticket_id, author_id, author from ticket_comment where account_id = $1 and comment_id = $2`;

const remove = 'delete from ticket_comment where account_id = $1 and comment_id = $2';

/** Who removes a comment: its author, or a member who may remove those of others. */
export interface CommentRemover {
  memberId: number;
  mayRemoveAny: boolean;
}

/**
 * Removes a comment for good, such as one with a password in it. Throws `notFound`, and a {@link Rejection} if it is
 * another member's.
 */
export function removeComment(
  change: ChangeAccount,
  commentId: number,
  { memberId, mayRemoveAny }: CommentRemover,
): Promise<void> {
  return change(async ({ accountId, client, record }) => {
    const { rows } = await client.query<{ ticket_id: number; author_id: number | null; author: string }>(
      selectComment,
      [accountId, commentId],
    );
    const [comment] = rows;
    if (!comment) throw notFound();
    const { ticket_id, author_id, author: written_by } = comment;
    if (author_id !== memberId && !mayRemoveAny) {
      throw new Rejection('forbidden', 'Only its author, an owner or an administrator can remove a comment.');
    }
    await client.query(remove, [accountId, commentId]);
    record('ticket_comment_removed', `/tickets?ticket=${ticket_id}`, {
      ticket_id,
      comment_id: commentId,
      written_by,
    });
  });
}
