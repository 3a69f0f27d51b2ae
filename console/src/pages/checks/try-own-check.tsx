import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import type { TriedOwnCheck } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { ENGINE_NAMES } from '../../../../src/vocabulary/engines.ts';
import { valueText } from '../../parts/chart/value-text.ts';
import { Select, TextField } from '../../parts/field.tsx';
import { counted, figure } from '../../parts/figure.ts';
import { foundConnectionsQuery } from '../../parts/found-connections.ts';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import type { OwnCheckDraft } from './own-check-draft.ts';

/** The most connections that are offered: a search finds the others. */
const OFFERED = 50;
/** The most rows of an answer that are shown. */
const SHOWN = 10;

interface TrialProps {
  draft: OwnCheckDraft;
  onChange: (changed: Partial<OwnCheckDraft>) => void;
  /** Of the last trial. */
  tried: TriedOwnCheck | undefined;
  isTrying: boolean;
}

/** Where a statement is tried, and what it gave. */
export function TryOwnCheck({ draft, onChange, tried, isTrying }: TrialProps) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const { data } = useQuery(foundConnectionsQuery(q, OFFERED, draft.engine));
  const found = data?.data ?? [];
  const choices = found.map(({ id, name, host }) => ({ id: String(id), label: name, description: host }));
  const isMany = found.length === OFFERED || text !== '';
  return (
    <fieldset className="own-check-trial">
      <legend>Try the statement</legend>
      {isMany && <TextField label="Find a connection" onChange={setText} value={text} />}
      {data && choices.length === 0 ? (
        <p className="quiet">No connection of {ENGINE_NAMES[draft.engine]} to try it on.</p>
      ) : (
        <Select
          choices={choices}
          parameter="connection_id"
          label="Connection"
          onChange={(id) => onChange({ connection: Number(id) })}
          value={draft.connection === null ? '' : String(draft.connection)}
        />
      )}
      <ScrollBox className="own-check-result" label="Result">
        <div aria-live="polite">
          {isTrying && <p className="quiet">Running the statement…</p>}
          {!isTrying && !tried && (
            <p className="quiet">
              The result is shown here and not stored. The log says that the statement ran.
            </p>
          )}
          {!isTrying && tried && <Result tried={tried} unit={draft.unit} />}
        </div>
      </ScrollBox>
    </fieldset>
  );
}

function Result({ tried, unit }: { tried: TriedOwnCheck; unit: OwnCheckDraft['unit'] }) {
  const { status, metric_line, values, faults, milliseconds } = tried;
  const shown = values.slice(0, SHOWN);
  return (
    <>
      <p>
        <StatusMark status={status} /> <bdi>{visibleText(metric_line)}</bdi>
      </p>
      {shown.length > 0 && (
        <ul className="own-check-values">
          {shown.map(({ object, value }) => (
            <li key={object}>
              {object !== null && <bdi className="mono">{visibleText(object)}: </bdi>}
              {valueText(value, unit)}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet small">
        {values.length === 0 ? 'No value' : counted(values.length, 'value')}
        {values.length > shown.length && `, the first ${shown.length} are shown`}, {counted(faults, 'fault')},{' '}
        {figure(milliseconds)} ms
      </p>
    </>
  );
}
