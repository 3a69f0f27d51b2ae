import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import type { ComparedFault, RunComparison } from '../../../../../src/console-api/connections/run-schemas.ts';
import { metricWords } from '../../../../../src/platform/text/metric-words.ts';
import { placeText } from '../../../measures/measure-groups.ts';
import { IconButton } from '../../../parts/button.tsx';
import { ChangeList } from '../../../parts/changes/change-list.tsx';
import { valueText } from '../../../parts/chart/value-text.ts';
import { figure } from '../../../parts/figure.ts';
import { Named } from '../../../parts/named.tsx';
import { readableLine } from '../../../parts/readable-text.ts';
import { Loaded } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status-mark.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { local } from '../../../parts/time.tsx';
import type { ComparedRuns } from '../connection-search.ts';
import { changedMeasures, differenceText } from './changed-measures.ts';
import { comparisonQuery } from './runs-query.ts';

interface RunDifferenceProps {
  connectionId: string;
  compared: ComparedRuns;
  /** Moves the focus to the comparison once it is there: a member asked for it, not the address. */
  isAskedFor: boolean;
  onClose: () => void;
}

/** What differs between two runs: findings, values and what changed on the server between them. */
export function RunDifference({ connectionId, compared, isAskedFor, onClose }: RunDifferenceProps) {
  const query = useQuery(comparisonQuery(connectionId, compared));
  return (
    <div className="run-difference">
      <div className="run-difference-close">
        <IconButton icon="close" label="Close comparison" onPress={onClose} />
      </div>
      <Loaded query={query}>
        {(comparison) => <Difference comparison={comparison} isAskedFor={isAskedFor} />}
      </Loaded>
    </div>
  );
}

interface DifferenceProps {
  comparison: RunComparison;
  isAskedFor: boolean;
}

function Difference({ comparison: { from, to, findings, measures, changes }, isAskedFor }: DifferenceProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isAskedFor) return;
    heading.current?.focus({ preventScroll: true });
    // The list below keeps its place in the window, which would leave the comparison above it.
    heading.current?.scrollIntoView({ block: 'start' });
  }, [isAskedFor]);
  const changed = useMemo(() => changedMeasures(measures), [measures]);
  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {local(from.created_at, { seconds: true })} compared with {local(to.created_at, { seconds: true })}
      </h3>
      <p>
        Score: {from.score}
        {from.score === to.score ? (
          ' in both runs'
        ) : (
          <>
            {' '}
            <span aria-hidden="true">→</span>
            <span className="hidden-text"> changed to </span> {to.score}
          </>
        )}
      </p>
      {findings ? (
        <Findings findings={findings} />
      ) : (
        <p className="quiet">
          Findings are kept for 7 days. Older runs are compared by their scores and values.
        </p>
      )}
      <h4>Values</h4>
      {changed.length === 0 ? (
        <p className="quiet">No value changed.</p>
      ) : (
        <div className="run-values">
          <Table
            columns={VALUES}
            label="Values that changed"
            rowKey={({ series_id }) => series_id}
            rows={changed}
          />
        </div>
      )}
      <h4>Changes between the runs</h4>
      <ChangeList
        empty={<p className="quiet">Nothing changed.</p>}
        changes={changes}
        label="Changes between the runs"
      />
    </>
  );
}

const LISTS = [
  { name: 'new', title: 'New' },
  { name: 'worse', title: 'Worse' },
  { name: 'better', title: 'Better' },
  { name: 'gone', title: 'Gone' },
  { name: 'unknown', title: 'Measured in one run only' },
] as const;

function Findings({ findings }: { findings: NonNullable<RunComparison['findings']> }) {
  const lists = LISTS.filter(({ name }) => findings[name].length > 0);
  return (
    <>
      <h4>Findings</h4>
      {lists.map(({ name, title }) => (
        <div className="run-findings" key={name}>
          <h5>
            {title} <span className="quiet">{figure(findings[name].length)}</span>
          </h5>
          <ul aria-label={title}>
            {findings[name].map((fault) => (
              <li key={JSON.stringify([fault.check_id, fault.database, fault.object])}>
                <Fault fault={fault} />
              </li>
            ))}
          </ul>
        </div>
      ))}
      <p className="quiet">
        {lists.length === 0 && 'No finding came, went or changed its severity. '}
        {figure(findings.unchanged)} {findings.unchanged === 1 ? 'finding is' : 'findings are'} unchanged.
      </p>
    </>
  );
}

function Fault({ fault: { title, database, object, before, after } }: { fault: ComparedFault }) {
  const shown = after ?? before;
  return (
    <>
      {before && after && before.severity !== after.severity && (
        <>
          <StatusMark status={before.severity} /> <span aria-hidden="true">→</span>
          <span className="hidden-text"> changed to </span>{' '}
        </>
      )}
      {shown && <StatusMark status={shown.severity} />} <bdi>{title}</bdi>
      <Named name={object} words=" · " />
      {database && (
        <span className="quiet">
          {' in '}
          <bdi className="mono">{database}</bdi>
        </span>
      )}
      {shown && (
        <span className="second-line">
          <bdi>{readableLine(shown.metric_line)}</bdi>
        </span>
      )}
    </>
  );
}

type Compared = RunComparison['measures'][number];

const valueColumn = (id: 'before' | 'after', header: string): Column<Compared> => ({
  header,
  width: '8rem',
  align: 'end',
  cell: (measure) => {
    const value = measure[id];
    return value === null ? <span className="quiet">no value</span> : valueText(value, measure.unit);
  },
});

const VALUES: Column<Compared>[] = [
  {
    header: 'Value',
    width: 'minmax(12rem, 1fr)',
    narrow: 'lead',
    cell: (measure) => {
      const place = placeText(measure);
      // A check may compare several numbers.
      const number = measure.check_id !== '' && metricWords(measure.metric);
      return (
        <>
          {measure.title}
          {(number || place) && (
            <span className="second-line">
              {number}
              {number && place && ' · '}
              {place && <bdi className="mono">{place}</bdi>}
            </span>
          )}
        </>
      );
    },
  },
  valueColumn('before', 'Before'),
  valueColumn('after', 'After'),
  { header: 'Difference', width: '9rem', align: 'end', cell: differenceText },
];
