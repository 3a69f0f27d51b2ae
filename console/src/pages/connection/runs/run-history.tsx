import './runs.css';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type Ref, useMemo, useRef, useState } from 'react';
import type { Run } from '../../../../../src/console-api/connections/run-schemas.ts';
import { Button } from '../../../parts/button.tsx';
import { COMPARED } from '../../../parts/compared-fragment.ts';
import { MoreButton } from '../../../parts/more-button.tsx';
import { Section } from '../../../parts/page.tsx';
import { Loaded, Message } from '../../../parts/states.tsx';
import { type Column, Table } from '../../../parts/table.tsx';
import { local, Time } from '../../../parts/time.tsx';
import { usePhone } from '../../../parts/use-media.ts';
import { type ComparedRuns, comparedRuns } from '../connection-search.ts';
import { useConnectionSearch } from '../use-connection-search.ts';
import { RunDifference } from './run-difference.tsx';
import { runsQuery } from './runs-query.ts';

const PER_PAGE = 10;
const PER_PAGE_ON_PHONE = 3;

/** The runs of a connection, and what differs between two of them. */
export function RunHistory({ connectionId }: { connectionId: string }) {
  const [{ compare }, changeSearch] = useConnectionSearch();
  const list = useInfiniteQuery(runsQuery(connectionId, usePhone() ? PER_PAGE_ON_PHONE : PER_PAGE));
  const compared = comparedRuns(compare);
  const [isAskedFor, setAskedFor] = useState(location.hash === `#${COMPARED}`);
  const choice = useRef<HTMLDivElement>(null);
  const show = (chosen: ComparedRuns | null) =>
    changeSearch({ compare: chosen ? `${chosen.from}-${chosen.to}` : undefined });
  return (
    <Section
      description="Choose two runs and compare them. Findings are kept for 7 days, scores forever."
      title="Run history"
    >
      <Loaded query={list}>
        {({ pages }) => {
          const runs = pages.flatMap((page) => page.runs);
          return runs.length === 0 ? (
            <Message icon="clock" title="No runs yet">
              The first check adds one.
            </Message>
          ) : (
            <div className="run-history">
              {compared && (
                <RunDifference
                  compared={compared}
                  connectionId={connectionId}
                  isAskedFor={isAskedFor}
                  key={compare}
                  onClose={() => {
                    show(null);
                    choice.current?.querySelector('button')?.focus();
                  }}
                />
              )}
              <RunChoice
                compared={compared}
                onCompare={(chosen) => {
                  setAskedFor(true);
                  show(chosen);
                }}
                ref={choice}
                runs={runs}
              />
              <MoreButton list={list} />
            </div>
          );
        }}
      </Loaded>
    </Section>
  );
}

interface RunChoiceProps {
  runs: readonly Run[];
  compared: ComparedRuns | null;
  onCompare: (chosen: ComparedRuns) => void;
  /** Around the button. */
  ref: Ref<HTMLDivElement>;
}

/** The list of runs. Two columns of radio buttons choose what is compared: by default the latest two. */
function RunChoice({ runs, compared, onCompare, ref }: RunChoiceProps) {
  const [latest, before = latest] = runs;
  const [from, setFrom] = useState(compared?.from ?? before?.id ?? 0);
  const [to, setTo] = useState(compared?.to ?? latest?.id ?? 0);
  const columns = useMemo((): Column<Run>[] => {
    const choice = (label: string, chosen: number, choose: (id: number) => void): Column<Run> => ({
      header: label,
      width: '3.5rem',
      cell: ({ id, created_at }) => (
        <input
          aria-label={`${label}: ${local(created_at, { seconds: true })}`}
          checked={id === chosen}
          className="run-radio"
          name={`run-${label}`}
          onChange={() => choose(id)}
          type="radio"
        />
      ),
    });
    return [
      choice('From', from, setFrom),
      choice('To', to, setTo),
      {
        header: 'Time',
        width: '11rem',
        narrow: 'lead',
        cell: ({ created_at }) => <Time as="local" at={created_at} seconds />,
      },
      { header: 'Score', width: '4rem', align: 'end', cell: ({ score }) => score },
      {
        header: 'Summary',
        width: 'minmax(10rem, 1fr)',
        cell: ({ summary_text, in_maintenance }) => (
          <>
            <bdi className="run-summary">{summary_text}</bdi>
            {in_maintenance && <span className="run-maintenance small quiet">In maintenance</span>}
          </>
        ),
      },
    ];
  }, [from, to]);
  const isPair = from !== to;
  // Of two runs, the list shows the newer one first. What it does not show yet is older.
  const newer = runs.find(({ id }) => id === from || id === to)?.id;
  return (
    <>
      <div className="run-compare" ref={ref}>
        <Button
          isDisabled={!isPair}
          onPress={() => onCompare(newer === from ? { from: to, to: from } : { from, to })}
          small
        >
          Compare the chosen runs
        </Button>
        {!isPair && (
          <span className="quiet small">
            {runs.length === 1 ? 'A comparison needs two runs.' : 'Choose two different runs.'}
          </span>
        )}
      </div>
      <div className="run-list">
        <Table columns={columns} label="Runs" rowKey={({ id }) => id} rows={runs} />
      </div>
    </>
  );
}
