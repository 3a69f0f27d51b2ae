import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { Comment, NewComment } from '../../../../../src/console-api/tickets/ticket-comments.ts';
import { send } from '../../../api.ts';
import { announce } from '../../../parts/announcer.tsx';
import { Button } from '../../../parts/button.tsx';
import { FormError } from '../../../parts/states.tsx';
import { usePeople } from '../tickets-query.ts';
import { completed, completions, typedMention } from './mention-completion.ts';

/** As the service limits it. */
const LONGEST = 4_000;

interface CommentFormProps {
  ticketId: number;
  box: RefObject<HTMLTextAreaElement | null>;
}

/** The text that is not sent yet. It outlives the panel, which Escape closes, until the person signs out. */
function useDraftComment(queries: QueryClient, ticketId: number) {
  const queryKey = ['comment-draft', ticketId];
  const [text, setText] = useState(() => queries.getQueryData<string>(queryKey) ?? '');
  const keep = (next: string) => {
    queries.setQueryDefaults(queryKey, { gcTime: Number.POSITIVE_INFINITY });
    queries.setQueryData(queryKey, next);
    setText(next);
  };
  return [text, keep] as const;
}

/** Writes a comment. An `@` offers the members' names: arrows choose one, Enter takes it. Ctrl+Enter sends. */
export function CommentForm({ ticketId, box }: CommentFormProps) {
  const id = useId();
  const queries = useQueryClient();
  const [text, setText] = useDraftComment(queries, ticketId);
  const { error, isPending, mutate } = useMutation({
    mutationFn: () =>
      send<Comment>('POST', `/tickets/${ticketId}/comments`, { body: text } satisfies NewComment),
    async onSuccess() {
      setText('');
      await queries.invalidateQueries({ queryKey: ['tickets'] });
      announce('Comment added');
    },
  });
  const isEmpty = text.trim() === '';
  const submit = () => {
    if (!isEmpty && !isPending) mutate();
  };
  const { names, chosen, onKeyDown, take, follow } = useCompletion({ box, text, setText });
  const list = useRef<HTMLDivElement>(null);
  // The panel scrolls, and its end may be below the field.
  const offered = names.length;
  useEffect(() => {
    if (offered > 0) list.current?.scrollIntoView({ block: 'nearest' });
  }, [offered]);
  return (
    <form
      className="comment-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label className="field-label" htmlFor={`${id}-text`}>
        Comment
      </label>
      <textarea
        aria-activedescendant={names.length > 0 ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        aria-controls={names.length > 0 ? `${id}-names` : undefined}
        aria-describedby={`${id}-help`}
        className="field-box"
        id={`${id}-text`}
        maxLength={LONGEST}
        onBlur={() => follow(null)}
        onChange={({ target }) => {
          setText(target.value);
          follow(target.selectionStart);
        }}
        onKeyDown={(event) => {
          // Enter ends the composition of an input method.
          if (event.nativeEvent.isComposing) return;
          if (onKeyDown(event)) return event.preventDefault();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
          else if (event.key === 'Escape') event.currentTarget.blur();
          else return;
          event.preventDefault();
        }}
        ref={box}
        rows={3}
        value={text}
      />
      {names.length > 0 && (
        <div
          aria-label="Members"
          className="choices comment-names"
          id={`${id}-names`}
          ref={list}
          role="listbox"
        >
          {names.map((name, place) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the keys
            <div
              aria-selected={place === chosen}
              className="choice"
              id={`${id}-${place}`}
              key={name}
              onClick={() => take(name)}
              onMouseDown={(event) => event.preventDefault()}
              role="option"
              {...(place === chosen && { 'data-focused': true })}
            >
              <bdi>{name}</bdi>
            </div>
          ))}
        </div>
      )}
      <p className="field-description" id={`${id}-help`}>
        Plain text. Type @ to mention a member. Ctrl+Enter sends.
      </p>
      <Button isDisabled={isEmpty} isPending={isPending} small type="submit">
        Comment
      </Button>
      <FormError error={error} />
    </form>
  );
}

interface Completion {
  box: RefObject<HTMLTextAreaElement | null>;
  text: string;
  setText: (text: string) => void;
}

/** The names that complete what is typed. `onKeyDown` tells whether it used the key. */
function useCompletion({ box, text, setText }: Completion) {
  const people = usePeople();
  const [caret, setCaret] = useState<number | null>(null);
  const [chosen, setChosen] = useState(0);
  const typed = caret === null ? null : typedMention(text, caret);
  const names =
    typed === null
      ? []
      : completions(
          (people.data?.data ?? []).map(({ name }) => name),
          typed.part,
        );
  // React puts the caret at the end of a text that it sets.
  const wanted = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    box.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = null;
  });
  const take = (name: string) => {
    if (typed === null) return;
    const next = completed(text, typed, name);
    wanted.current = next.caret;
    setText(next.text);
    setCaret(null);
  };
  const follow = (at: number | null) => {
    setCaret(at);
    setChosen(0);
  };
  const onKeyDown = ({ key, ctrlKey, metaKey }: KeyboardEvent): boolean => {
    const name = names[chosen];
    if (name === undefined || ctrlKey || metaKey) return false;
    const step = { ArrowDown: 1, ArrowUp: names.length - 1 }[key];
    if (step !== undefined) setChosen((chosen + step) % names.length);
    else if (key === 'Enter' || key === 'Tab') take(name);
    else if (key === 'Escape') setCaret(null);
    else return false;
    return true;
  };
  return { names, chosen, onKeyDown, take, follow };
}
