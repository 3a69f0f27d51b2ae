import { Table } from '../../parts/table.tsx';
import { ScoreChart } from './score-chart.tsx';
import { type History, scoreDays, scoreText, utcDay } from './score-days.ts';

/** The score over 90 days, as a chart, as text and as a table. */
export function ScoreHistory({ history }: { history: Readonly<History> }) {
  const words = scoreText(history);
  if (history.length === 0) return <p className="quiet">{words}</p>;
  return (
    <figure className="score-history">
      <ScoreChart history={history} label={words} />
      <figcaption className="small">{words}</figcaption>
      <details>
        <summary className="small">Show as table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section aria-label="Scores by day" className="score-days" tabIndex={0}>
          <Table
            columns={[
              { id: 'day', header: 'Day (UTC)', cell: ({ day }) => utcDay(day) },
              { id: 'score', header: 'Last score', width: '6rem', align: 'end', cell: ({ score }) => score },
            ]}
            label="The last score of each day"
            rowKey={({ day }) => day}
            rows={scoreDays(history)}
          />
        </section>
      </details>
    </figure>
  );
}
