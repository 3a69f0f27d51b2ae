import './status-mark.css';
import { Strokes } from './icons.tsx';
import { LOOKS, type Status } from './status-looks.tsx';

export type { Status };

/** The label of a status. */
export function statusText(status: Status): string {
  return LOOKS[status].word;
}

interface StatusMarkProps {
  status: Status;
  word?: string;
  quiet?: boolean;
}

/** A status as word, icon, shape and colour; `quiet` has no tint, for table rows. */
export function StatusMark({ status, word, quiet = false }: StatusMarkProps) {
  const look = LOOKS[status];
  return (
    <span className={`status-mark tone-${look.tone} ${quiet ? 'plain-mark' : ''}`}>
      <Strokes size={14} width={1.6}>
        {look.mark}
      </Strokes>
      {word ?? look.word}
    </span>
  );
}

/** A score from 0 to 100 as a number and a bar; null = no score yet. */
export function Score({ score, status }: { score: number | null; status: Status }) {
  if (score === null) return <span className="quiet">No score</span>;
  return (
    <span className={`score tone-${LOOKS[status].tone}`}>
      <span className="score-figure">{score}</span>
      <svg aria-hidden="true" height="4" preserveAspectRatio="none" viewBox="0 0 100 4" width="48">
        <rect className="score-track" height="4" rx="2" width="100" />
        <rect className="score-bar" height="4" rx="2" width={Math.max(score, 3)} />
      </svg>
    </span>
  );
}
