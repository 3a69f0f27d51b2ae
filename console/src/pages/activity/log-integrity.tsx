import { useQuery } from '@tanstack/react-query';
import type { ActivityEntry } from '../../../../client/src/records.ts';
import type { VerifiedLog } from '../../../../src/console-api/activity/activity-routes.ts';
import { read } from '../../api.ts';
import { figure } from '../../parts/figure.ts';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';

/** The number of ids missing between two neighbours of the list, the later one first. */
export function missingBetween(later: ActivityEntry, earlier: ActivityEntry | undefined): number {
  return earlier ? later.id - earlier.id - 1 : 0;
}

interface LogIntegrityProps {
  entries: readonly ActivityEntry[];
  isFiltered: boolean;
}

/** The integrity of the log: gaps in the shown ids, and its seals. */
export function LogIntegrity({ entries, isFiltered }: LogIntegrityProps) {
  return (
    <ul aria-label="Log integrity" className="log-state">
      <li>
        <Gaps entries={entries} isFiltered={isFiltered} />
      </li>
      <li>
        <Verified newest={entries[0]?.id ?? 0} />
      </li>
    </ul>
  );
}

function Gaps({ entries, isFiltered }: { entries: readonly ActivityEntry[]; isFiltered: boolean }) {
  const [first] = entries;
  const last = entries.at(-1);
  if (!first || !last) return <StatusMark quiet status="skipped" word="No entries to check for gaps" />;
  if (isFiltered) {
    return (
      <>
        <StatusMark quiet status="skipped" word="Gaps not checked" />
        <span className="quiet">the filter hides entries of other actions</span>
      </>
    );
  }
  const missing = entries.reduce((sum, entry, place) => sum + missingBetween(entry, entries[place + 1]), 0);
  const range = `${figure(last.id)} to ${figure(first.id)}`;
  if (missing === 0) return <StatusMark quiet status="ok" word={`No gaps in entries ${range}`} />;
  const words = `${figure(missing)} missing in entries ${range}`;
  return <StatusMark status="critical" word={words} />;
}

/**
 * How much of the log is sealed and verified. `newest` is the newest entry on the page, which may be newer than the
 * verification.
 */
function Verified({ newest }: { newest: number }) {
  const { data, error } = useQuery({
    ...read<VerifiedLog>('/activity/verified'),
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.data?.verified === null ? 5_000 : 300_000),
  });
  if (error) return <StatusMark quiet status="skipped" word={`Not verified: ${error.message}`} />;
  if (!data || data.verified === null || data.checked_at === null)
    return <StatusMark quiet status="skipped" word="Verifying…" />;
  const { verified, from_id, to_id, at, checked_at, unsealed, late, message } = data;
  if (!verified)
    return <StatusMark status="critical" word={message ?? 'The log was changed after it was sealed'} />;
  if (at === null) {
    return (
      <>
        <StatusMark quiet status="skipped" word="Nothing sealed yet" />
        <span className="quiet">the log is sealed every 10 minutes{lateWords(late)}</span>
      </>
    );
  }
  const waiting = Math.max(unsealed, newest - to_id);
  return (
    <>
      <StatusMark quiet status="ok" word={`Entries ${figure(from_id)} to ${figure(to_id)} verified`} />
      <span className="quiet">
        <Time at={checked_at} />, sealed <Time at={at} />; {waitingWords(waiting)}
        {lateWords(late)}
      </span>
    </>
  );
}

/** Either the service was stopped or the log was rewritten. */
function lateWords(entries: number): string {
  if (entries === 0) return '';
  return `; ${entries === 1 ? '1 entry was' : `${figure(entries)} entries were`} not sealed within an hour`;
}

function waitingWords(entries: number): string {
  if (entries === 0) return 'all entries are sealed';
  return entries === 1
    ? '1 entry waits for the next seal'
    : `${figure(entries)} entries wait for the next seal`;
}
