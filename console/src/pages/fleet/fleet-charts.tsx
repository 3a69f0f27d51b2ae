import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { FleetRow } from '../../../../src/console-api/fleet/fleet-routes.ts';
import { Button } from '../../parts/button.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { FleetLine } from './fleet-line.tsx';
import { type LinesOf, shownStatus } from './fleet-table.tsx';
import { trendText } from './trend-text.ts';

/** Charts that are drawn at once. */
const STEP = 60;

const SIZE = { width: 208, height: 56 };

/** The connections as small charts of one vital sign, or of their scores, in the order of the list. */
export function FleetCharts({ rows, lines }: { rows: readonly FleetRow[]; lines: LinesOf | null }) {
  const [most, setMost] = useState(STEP);
  const left = rows.length - most;
  return (
    <>
      <ul
        aria-label={lines ? `${lines.title} of each connection` : 'Score of each connection'}
        className="fleet-charts"
      >
        {rows.slice(0, most).map((row) => (
          <li key={row.id}>
            <Link className="chart-name" params={{ id: String(row.id) }} to="/connections/$id">
              <bdi>{row.name}</bdi>
            </Link>
            <StatusMark quiet status={shownStatus(row)} />
            {lines ? (
              <FleetLine {...lines} connectionId={row.id} size={SIZE} />
            ) : (
              <span className="fleet-line">
                <Sparkline {...SIZE} label={trendText(row.trend)} values={row.trend} />
                <span className="second-line">{row.score ?? 'not checked'}</span>
              </span>
            )}
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button onPress={() => setMost(most + STEP)}>
          Show {Math.min(left, STEP)} more of {left.toLocaleString('en')}
        </Button>
      )}
    </>
  );
}
