import './comments.css';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Comment, CommentList } from '../../../../../src/console-api/tickets/ticket-comments.ts';
import { splitMentions } from '../../../../../src/platform/text/mentions.ts';
import { get, send } from '../../../api.ts';
import { notify } from '../../../parts/announcer.tsx';
import { IconButton } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog.tsx';
import { InlineError, Loaded } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { CommentForm } from './comment-form.tsx';

interface TicketCommentsProps {
  ticketId: number;
  /** Whether the member may comment. */
  can: boolean;
  /** How often the member asked to comment: each time, the field gets the focus. */
  commenting: number;
}

/** What members say about a ticket. */
export function TicketComments({ ticketId, can, commenting }: TicketCommentsProps) {
  const [removed, setRemoved] = useState<Comment | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const query = useQuery({
    queryKey: ['tickets', 'one', String(ticketId), 'comments'],
    queryFn: ({ signal }) => get<CommentList>(`/tickets/${ticketId}/comments`, {}, signal),
    refetchInterval: 30_000,
  });
  useEffect(() => {
    if (commenting > 0) box.current?.focus();
  }, [commenting]);
  return (
    <div className="ticket-comments">
      <h3>Comments</h3>
      <Loaded query={query} skeleton={null}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="quiet">No comments yet.</p>
          ) : (
            <ol>
              {data.map((comment) => (
                <CommentItem
                  comment={comment}
                  key={comment.id}
                  onRemove={can && comment.removable ? () => setRemoved(comment) : null}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
      {can && <CommentForm box={box} key={ticketId} ticketId={ticketId} />}
      {removed && <RemoveComment comment={removed} onClose={() => setRemoved(null)} />}
    </div>
  );
}

function CommentItem({ comment, onRemove }: { comment: Comment; onRemove: (() => void) | null }) {
  const { author, created_at, body, mentions } = comment;
  return (
    <li>
      <div className="comment-head">
        <bdi className="comment-author">{visibleText(author)}</bdi>
        <Time at={created_at} />
        {onRemove && <IconButton icon="bin" label={`Remove ${author}’s comment`} onPress={onRemove} />}
      </div>
      <p className="comment-body" dir="auto">
        {splitMentions(body, mentions).map(({ text, name }, place) =>
          name === null ? (
            visibleText(text)
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change
            <bdi className="mention" key={place}>
              {visibleText(text)}
            </bdi>
          ),
        )}
      </p>
    </li>
  );
}

function RemoveComment({ comment: { id, author }, onClose }: { comment: Comment; onClose: () => void }) {
  const queries = useQueryClient();
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => send('DELETE', `/ticket-comments/${id}`),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ['tickets'] });
      notify('Comment removed');
      onClose();
    },
  });
  return (
    <Confirm
      action="Remove comment"
      isOpen
      isPending={isPending}
      onClose={onClose}
      onConfirm={() => mutate()}
      title="Remove this comment?"
    >
      <p>
        <bdi>{author}</bdi>’s comment will be removed for everyone and can’t be restored.
      </p>
      <InlineError error={error} />
    </Confirm>
  );
}
