import './finding-explanation.css';
import { metricWords } from '../../../src/platform/text/metric-words.ts';
import type { ThresholdUnit } from '../../../src/vocabulary/threshold-units.ts';
import { unitOf } from '../../../src/vocabulary/units.ts';
import { valueText } from './chart/value-text.ts';
import { CodeBlock } from './copy.tsx';
import { Icon } from './icons.tsx';
import { readableLine } from './readable-text.ts';
import { thresholdPhrase, thresholdText } from './threshold-value.ts';

/** Splits a line of a check's page into text, `code` and the words of a link, in turns. */
const PIECES = /`([^`]+)`|\[([^\]]+)\]\([^)]*\)/;

/** Renders the Markdown of the checks' pages: paragraphs, code, links. */
function Prose({ text }: { text: string }) {
  return (
    <div className="prose">
      {text.split(/\n\n+/).map((paragraph) => (
        <p key={paragraph}>
          {paragraph.split(PIECES).map((piece, place) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change
            place % 3 === 1 && piece ? <code key={place}>{piece}</code> : piece,
          )}
        </p>
      ))}
    </div>
  );
}

interface Measured {
  metric: string;
  value: number;
  operator: '>=' | '<=';
  threshold: number;
}

/** A threshold as it holds for a connection, and what sets it. */
interface JudgedBy {
  name: string;
  unit: ThresholdUnit;
  value: number;
  default: number;
  source: 'connection' | 'tag' | 'account' | 'default';
  tag: string;
}

interface FindingExplanationProps {
  /** The measured value with its recommendation. */
  metric_line: string;
  /** The number that it comes from; null if it comes from none. */
  measured: Measured | null;
  thresholds: readonly JudgedBy[];
  /** Why it matters, as {@link Prose}; '' for an unknown check. */
  why: string;
  /** The remediation: statements, or a sentence where no statement helps; '' when there is nothing to do. */
  sql: string;
  /** What the statement locks; null when unknown. */
  lock: string | null;
}

/** Explains a finding or ticket: measured value and threshold, why it matters, what to run and what that locks. */
export function FindingExplanation({
  metric_line,
  measured,
  thresholds,
  why,
  sql,
  lock,
}: FindingExplanationProps) {
  return (
    <div className="explained">
      <div>
        <h3>Measured</h3>
        <p>
          <bdi>{readableLine(metric_line)}</bdi>
        </p>
        {measured && <Crossed measured={measured} />}
        {thresholds.length > 0 && (
          <ul aria-label="Thresholds" className="judged-by">
            <li aria-hidden="true">Thresholds</li>
            {thresholds.map(({ name, unit, value, default: standard, source, tag }) => (
              <li key={name}>
                {thresholdPhrase(name, value, unit)}
                {value !== standard && ` (default ${thresholdText(standard, unit)})`}
                {source === 'account' && ', set for all connections'}
                {source === 'tag' && (
                  <>
                    , set for <bdi>{tag}</bdi>
                  </>
                )}
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

/** The number in words: `Connections used: 98.9 %, at or above the threshold of 95 %`. */
function Crossed({ measured: { metric, value, operator, threshold } }: { measured: Measured }) {
  const unit = unitOf(metric);
  return (
    <p className="crossed">
      {metricWords(metric)}: <strong>{valueText(value, unit)}</strong>, at or{' '}
      {operator === '>=' ? 'above' : 'below'} the threshold of {valueText(threshold, unit)}
    </p>
  );
}

/** Statements to copy and what they lock; or what to do, where no statement helps. */
export function Remedy({ sql, lock }: { sql: string; lock: string | null }) {
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
