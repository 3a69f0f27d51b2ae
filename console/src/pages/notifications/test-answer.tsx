import type { UseMutationResult } from '@tanstack/react-query';
import type { TestAnswer as Answer } from '../../../../src/console-api/notifications/destination-routes.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { InlineError } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { visibleText } from '../../parts/visible-text.ts';

export type SentTest = UseMutationResult<Answer, Error, number>;

/** The lines of a response that are shown. */
const LINES = 12;

interface TestAnswerProps {
  test: SentTest;
  id: number;
  sent: string;
  what?: 'test' | 'digest';
}

/** A test and the receiver's answer: "200 OK, 143 ms", and the first lines of what it said. */
export function TestAnswer({ test, id, sent, what = 'test' }: TestAnswerProps) {
  const { data, error, isPending } = test;
  return (
    <div aria-live="polite" className="test-answer">
      {isPending && (
        <p className="test-waiting">
          <Icon name="clock" />
          <span>Sending a {what}. This takes up to 20 seconds.</span>
        </p>
      )}
      {!isPending && <InlineError error={error} />}
      {!isPending && data && (
        <>
          <p>
            <StatusMark
              status={data.accepted ? 'ok' : 'error'}
              word={data.accepted ? `The ${what} was accepted` : `The ${what} was not accepted`}
            />
          </p>
          <p>
            <bdi className="test-result-line">{visibleText(data.result)}</bdi>
            <span className="quiet">, {data.milliseconds.toLocaleString('en')} ms</span>
          </p>
          {data.accepted && <p className="quiet">{sent}</p>}
          <ResponseText text={data.response} />
        </>
      )}
      {!isPending && (
        <div>
          <Button icon="again" onPress={() => test.mutate(id)} small>
            Send again
          </Button>
        </div>
      )}
    </div>
  );
}

/** The first lines of a receiver's answer, which may be hostile: only text. */
export function ResponseText({ text, lines = LINES }: { text: string; lines?: number }) {
  if (text.trim() === '') return null;
  const all = visibleText(text).split('\n');
  const shown = all.slice(0, lines).join('\n');
  return (
    <div className="response">
      <h3>Response</h3>
      <ScrollBox isText label="Response">
        {shown}
        {all.length > lines && '\n…'}
      </ScrollBox>
    </div>
  );
}
