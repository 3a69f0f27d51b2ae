import type { Actor } from '../../accounts/members/actor.ts';
import { notFound } from '../../platform/rejection.ts';
import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { addComment } from '../../tickets/triage/add-comment.ts';
import { type CommentRow, LONGEST_COMMENT } from '../../tickets/triage/comment-row.ts';
import { listComments } from '../../tickets/triage/list-comments.ts';
import { removeComment } from '../../tickets/triage/remove-comment.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** A comment: text of a member, which is shown as text. */
const Comment = Type.Object({
  id: identifier('comment identifier'),
  author_id: nullable(identifier('member, who may have been removed')),
  author: Type.String(),
  body: Type.String(),
  /** The names of the mentioned members. */
  mentions: Type.Array(Type.String()),
  created_at: timestamp('when it was written'),
  /** Whether the member may remove it. */
  removable: Type.Boolean(),
});

const CommentList = Type.Object({
  /** The oldest first. */
  data: Type.Array(Comment),
});

const NewComment = Type.Object(
  {
    body: Type.String({
      minLength: 1,
      // Twice the characters of a comment, before the service trims it.
      maxLength: 2 * LONGEST_COMMENT,
      description: `Enter a comment of 1 to ${LONGEST_COMMENT.toLocaleString('en')} characters.`,
    }),
  },
  { additionalProperties: false },
);

export type Comment = Static<typeof Comment>;
export type CommentList = Static<typeof CommentList>;
export type NewComment = Static<typeof NewComment>;

const list = consoleRoute({
  method: 'GET',
  path: '/tickets/:id/comments',
  permission: 'tickets:read',
  response: CommentList,
  async handler({ actor, id, read }) {
    return read(async (run) => {
      const of = [actor.accountId, id];
      const [ticket] = await run('select from ticket where account_id = $1 and ticket_id = $2', of);
      if (!ticket) throw notFound();
      const comments = await listComments(run, actor.accountId, id);
      return { data: comments.map((comment) => shown(comment, actor)) };
    });
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/tickets/:id/comments',
  permission: 'connections:write',
  body: NewComment,
  response: Comment,
  status: 201,
  cost: 2,
  async handler({ actor, body: { body }, change, id }) {
    return shown(await addComment(change, id, { authorId: actor.memberId, text: body }), actor);
  },
});

const remove = consoleRoute({
  method: 'DELETE',
  path: '/ticket-comments/:id',
  permission: 'connections:write',
  response: null,
  async handler({ actor, change, id }) {
    await removeComment(change, id, { memberId: actor.memberId, mayRemoveAny: mayRemoveAny(actor) });
  },
});

/** Comments on tickets. */
export const ticketCommentRoutes: ConsoleRoute[] = [list, add, remove];

function mayRemoveAny({ permissions }: Actor): boolean {
  return permissions.has('members:write');
}

function shown({ id, author_id, author, body, mentions, created_at }: CommentRow, actor: Actor): Comment {
  return {
    id,
    author_id,
    author,
    body,
    mentions,
    created_at: created_at.toISOString(),
    removable:
      actor.permissions.has('connections:write') && (author_id === actor.memberId || mayRemoveAny(actor)),
  };
}
