import { StatusMark } from '../../../parts/status-mark.tsx';
import { Time } from '../../../parts/time.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { ResponseText } from '../test-answer.tsx';
import type { Attempt } from './delivery-queries.ts';

/** The attempts of a delivery, newest first, each with its request headers and the response. The newest is open. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return <p className="quiet">No attempt yet.</p>;
  const newest = attempts.toSorted((a, b) => b.attempt - a.attempt);
  return (
    <div className="attempts">
      <h3>Attempts</h3>
      {newest.map((attempt, place) => (
        <details key={attempt.attempt} open={place === 0}>
          <summary>
            <span className="attempt-line">
              <StatusMark
                quiet
                status={isAccepted(attempt) ? 'ok' : 'error'}
                word={`Attempt ${attempt.attempt}`}
              />
              <span className="quiet small">
                <Time as="local" at={attempt.started_at} seconds />,{' '}
                {attempt.milliseconds.toLocaleString('en')} ms
              </span>
            </span>
          </summary>
          <div className="attempt-content">
            <p>
              <bdi className="test-result-line">{visibleText(attempt.result)}</bdi>
            </p>
            <ResponseText lines={200} text={attempt.response} />
            <RequestHeaders headers={attempt.headers} />
          </div>
        </details>
      ))}
    </div>
  );
}

/** 2xx, as everywhere: 250 of SMTP is one too. */
function isAccepted({ status }: Attempt): boolean {
  return status !== null && status >= 200 && status < 300;
}

function RequestHeaders({ headers }: Pick<Attempt, 'headers'>) {
  const lines = Object.entries(headers);
  if (lines.length === 0) return null;
  return (
    <div>
      <h3>Request headers</h3>
      <dl className="request-headers">
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt className="mono">{name}</dt>
            <dd className="mono">
              <bdi>{visibleText(String(value))}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
