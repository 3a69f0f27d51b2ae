import { Table } from '../../parts/table.tsx';
import { ScoreChart } from './score-chart.tsx';
import { scoreDays, utcDay } from './score-days.ts';

/** What the history shows, in words. */
function wordsOf(history: readonly { at: string; score: number }[]): string {
  const [first] = history;
  const last = history.at(-1);
  if (!first || !last) return 'No score yet.';
  if (history.length === 1) return `One score so far: ${last.score}.`;
  const lowest = history.reduce((low, point) => (point.score < low.score ? point : low));
  return `Score since ${utcDay(first.at)}: from ${first.score} to ${last.score}, lowest ${lowest.score} on ${utcDay(lowest.at)}.`;
}

/** How the score went in 90 days: a line, the same in words, and as a table. */
export function ScoreHistory({ history }: { history: readonly { at: string; score: number }[] }) {
  const words = wordsOf(history);
  if (history.length === 0) return <p className="quiet">{words}</p>;
  return (
    <figure className="score-history">
      <ScoreChart history={history} label={words} />
      <figcaption className="small">{words}</figcaption>
      <details>
        <summary className="small">The same as a table</summary>
        <Table
          columns={[
            { id: 'day', header: 'Day (UTC)', cell: ({ day }) => utcDay(day) },
            { id: 'score', header: 'Last score', width: '6rem', align: 'end', cell: ({ score }) => score },
          ]}
          label="Scores by day"
          rowKey={({ day }) => day}
          rows={scoreDays(history)}
        />
      </details>
    </figure>
  );
}
