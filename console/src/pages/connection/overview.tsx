import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import { Facts } from '../../parts/page.tsx';
import { Score, StatusMark } from '../../parts/status-mark.tsx';
import { Countdown, Time } from '../../parts/time.tsx';
import { LatestChanges } from './changes.tsx';
import { LatestVitals } from './latest-vitals.tsx';
import { ScoreHistory } from './score-history.tsx';
import { Watch } from './watch.tsx';

type Cost = NonNullable<NonNullable<ConnectionDetail['latest']>['cost']>;

/** The cost of a run on the monitored server. */
function costWords({ milliseconds, statements, bytes }: Cost): string {
  const time =
    milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
  const size = bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000).toLocaleString('en')} kB`;
  return `${time}, ${statements.toLocaleString('en')} statements, ${size} read`;
}

/** The connection's score and what holds it down, beside its history, facts and vital signs. */
export function Overview({ detail, problems }: { detail: ConnectionDetail; problems: ReactNode }) {
  const id = String(detail.settings.id);
  return (
    <div className="connection-overview">
      <div>
        <Standing detail={detail} />
        {problems}
        <LatestVitals connectionId={id} />
      </div>
      <div>
        <ScoreHistory history={detail.history} />
        <CheckFacts detail={detail} />
        <LatestChanges connectionId={id} />
      </div>
    </div>
  );
}

function Standing({ detail: { score, status, stale, latest, settings } }: { detail: ConnectionDetail }) {
  return (
    <div className="standing">
      <div className="standing-score">
        {score !== null && (
          <span className="standing-figure">
            <span className="hidden-text">Score </span>
            {score}
          </span>
        )}
        <span>
          {stale && status === 'healthy' ? (
            <StatusMark status="stale" word="Stale (was healthy)" />
          ) : (
            <>
              <StatusMark status={status} /> {stale && <StatusMark status="stale" />}
            </>
          )}
          {score !== null && <Score score={score} status={stale ? 'stale' : status} />}
        </span>
      </div>
      {stale && <p className="quiet">The latest check is too old to show the current state.</p>}
      {latest && (
        <p>
          <bdi>{latest.summary_text}</bdi>
        </p>
      )}
      <Watch connectionId={String(settings.id)} />
    </div>
  );
}

function CheckFacts({ detail }: { detail: ConnectionDetail }) {
  const { settings, last_checked_at, next_due_at, running, latest, open_tickets } = detail;
  const next = running ? (
    'Now'
  ) : next_due_at ? (
    <Countdown key="next" over="due now" to={next_due_at} />
  ) : (
    'None: sample data'
  );
  const tickets = (
    <Link search={{ connection_id: String(settings.id), status: 'open' }} to="/tickets">
      {open_tickets}
    </Link>
  );
  return (
    <Facts
      facts={[
        ['Last check', last_checked_at ? <Time as="local" at={last_checked_at} key="last" /> : 'Never'],
        ['Next check', next],
        ['Open tickets', tickets],
        ['Cost on the server', latest?.cost ? costWords(latest.cost) : 'Unknown'],
      ]}
    />
  );
}
