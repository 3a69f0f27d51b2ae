import type { RunProgress } from '../../../../src/console-api/connections/runs.ts';
import { InlineError } from '../../parts/states.tsx';

/** The progress of a check, as text. */
function wordsOf({ state, progress }: RunProgress): string {
  if (state === 'waiting') return 'Waiting for a free monitor';
  if (!progress) return 'The check is running';
  const { number, databases, database } = progress;
  return databases > 1
    ? `Database ${number} of ${databases}: ${database}`
    : `Checking ${database || 'the server'}`;
}

/** The completed share of all checks over all databases; null while unknown. */
function partDone({ progress }: RunProgress): number | null {
  if (!progress || progress.all === 0) return null;
  const { number, databases, done, all } = progress;
  // An engine whose one session sees all databases reports no databases.
  return databases === 0 ? done / all : (number - 1 + done / all) / databases;
}

interface RunStripProps {
  run: RunProgress | null;
  isWatched: boolean;
  /** Why the check could not start. */
  error: Error | null;
}

/** The live progress of a running check, or why it failed. */
export function RunProgressBar({ run, isWatched, error }: RunStripProps) {
  if (error) return <InlineError error={error} />;
  if (!isWatched) {
    return run?.state === 'failed' ? (
      <InlineError error={`The check failed: ${run.message ?? 'no reason was given.'}`} />
    ) : null;
  }
  const shown: RunProgress =
    run && run.state !== 'idle' ? run : { state: 'running', progress: null, score: null, message: null };
  const part = partDone(shown);
  return (
    <div className="run-strip">
      <span>
        <bdi>{wordsOf(shown)}</bdi>
        {shown.progress && (
          <span className="quiet">
            {' '}
            · {shown.progress.done} of {shown.progress.all} checks
          </span>
        )}
      </span>
      <progress aria-label="Health check" {...(part === null ? {} : { value: part })} max={1} />
    </div>
  );
}
