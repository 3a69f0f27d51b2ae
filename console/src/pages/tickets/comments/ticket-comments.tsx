import './comments.css';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Comment, CommentList } from '../../../../../src/console-api/tickets/ticket-comments.ts';
import { splitMentions } from '../../../../../src/platform/text/mentions.ts';
import { read, send } from '../../../api.ts';
import { IconButton } from '../../../parts/button.tsx';
import { ConfirmRequest } from '../../../parts/confirm-request.tsx';
import { Loaded } from '../../../parts/states.tsx';
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
    ...read<CommentList>(`/tickets/${ticketId}/comments`),
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
      {removed && (
        <ConfirmRequest
          action="Remove comment"
          done="Comment removed"
          onClose={() => setRemoved(null)}
          renews={['tickets']}
          request={() => send('DELETE', `/ticket-comments/${removed.id}`)}
          title="Remove this comment?"
        >
          <p>
            <bdi>{removed.author}</bdi>’s comment will be removed for everyone and can’t be restored.
          </p>
        </ConfirmRequest>
      )}
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
