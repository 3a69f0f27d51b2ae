import './finding-explanation.css';
import { CodeBlock } from './copy.tsx';
import { Icon } from './icons.tsx';

const PIECE = /`([^`]+)`|\[([^\]]+)\]\([^)]*\)/g;

/** A line of the checks' pages: `code` is set as such, a link between the pages becomes its words. */
function piecesOf(line: string): { at: number; text: string; isCode: boolean }[] {
  const pieces: { at: number; text: string; isCode: boolean }[] = [];
  let done = 0;
  for (const { 0: all, 1: code, 2: words, index } of line.matchAll(PIECE)) {
    pieces.push({ at: done, text: line.slice(done, index), isCode: false });
    pieces.push({ at: index, text: code ?? words ?? '', isCode: code !== undefined });
    done = index + all.length;
  }
  return [...pieces, { at: done, text: line.slice(done), isCode: false }].filter(({ text }) => text !== '');
}

/** The Markdown that the pages of the checks are written in: paragraphs, code, links. */
function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      {text.split(/\n\n+/).map((paragraph) => (
        <p key={paragraph}>
          {piecesOf(paragraph).map((piece) =>
            piece.isCode ? <code key={piece.at}>{piece.text}</code> : piece.text,
          )}
        </p>
      ))}
    </div>
  );
}

interface FindingExplanationProps {
  /** The measured value with its recommendation. */
  measured: string;
  thresholds: readonly { name: string; value: number; default: number }[];
  /** Why it matters, as {@link Prose}; '' where nothing is known of the check. */
  why: string;
  /** The remediation: statements, or a sentence where none helps; '' where there is nothing to do. */
  sql: string;
  /** What the statement locks; null where nothing is known. */
  lock: string | null;
}

/** What one needs to act on a finding or ticket: measured against threshold, why it matters, what to run and what that locks. */
export function FindingExplanation({ measured, thresholds, why, sql, lock }: FindingExplanationProps) {
  return (
    <div className="explained">
      <div>
        <h3>Measured</h3>
        <p>
          <bdi>{measured}</bdi>
        </p>
        {thresholds.length > 0 && (
          <ul aria-label="Thresholds" className="judged-by">
            <li aria-hidden="true">Thresholds</li>
            {thresholds.map(({ name, value, default: standard }) => (
              <li key={name}>
                <code>{name}</code> {value.toLocaleString('en')}
                {value !== standard && ` (default ${standard.toLocaleString('en')})`}
              </li>
            ))}
          </ul>
        )}
      </div>
      {why && (
        <div>
          <h3>Why it matters</h3>
          <Prose text={why} />
        </div>
      )}
      {sql && <Remedy lock={lock} sql={sql} />}
    </div>
  );
}

/** Statements to copy with what they lock; where none helps, what to do in words. */
function Remedy({ sql, lock }: { sql: string; lock: string | null }) {
  if (lock === null && !sql.includes(';')) {
    return (
      <div>
        <h3>What to do</h3>
        <p>
          <bdi>{sql}</bdi>
        </p>
      </div>
    );
  }
  return (
    <div>
      <h3>What to run</h3>
      <CodeBlock text={sql} what="SQL" />
      {lock && (
        <p className="lock-note">
          <Icon name="lock" />
          <span>{lock}</span>
        </p>
      )}
    </div>
  );
}
