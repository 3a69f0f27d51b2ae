import { Link } from '@tanstack/react-router';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import { Facts } from '../../parts/page.tsx';
import { Score, StatusMark } from '../../parts/status-mark.tsx';
import { Countdown, inOtherZone, local, Time } from '../../parts/time.tsx';
import { ScoreHistory } from './score-history.tsx';

type Cost = NonNullable<NonNullable<ConnectionDetail['latest']>['cost']>;

/** The cost of a run on the monitored server. */
function costWords({ milliseconds, statements, bytes }: Cost): string {
  const time =
    milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
  const size = bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000).toLocaleString('en')} kB`;
  return `${time}, ${statements.toLocaleString('en')} statements, ${size} read`;
}

/** The connection's status and score history. */
export function Overview({ detail }: { detail: ConnectionDetail }) {
  const { settings, score, status, stale, last_checked_at, next_due_at, running, latest, history } = detail;
  return (
    <div className="connection-overview">
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
        <Facts
          facts={[
            [
              'Last check',
              last_checked_at ? (
                <>
                  <Time at={last_checked_at} />
                  <span className="second-line">{local(last_checked_at)}</span>
                  <span className="second-line">{inOtherZone(last_checked_at)}</span>
                </>
              ) : (
                'Never'
              ),
            ],
            [
              'Next check',
              running ? (
                'Now'
              ) : next_due_at ? (
                <Countdown key="next" over="due now" to={next_due_at} />
              ) : (
                'None: sample data'
              ),
            ],
            [
              'Open tickets',
              <Link
                key="tickets"
                search={{ connection_id: String(settings.id), status: 'open' }}
                to="/tickets"
              >
                {detail.open_tickets}
              </Link>,
            ],
            ['Cost on the server', latest?.cost ? costWords(latest.cost) : 'Unknown'],
          ]}
        />
      </div>
      <ScoreHistory history={history} />
    </div>
  );
}
