import { useMutation, useQuery } from '@tanstack/react-query';
import type {
  CheckThresholds,
  Override,
  OwnThresholds,
} from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { send } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { ConnectionLink } from '../parts/connection-link.tsx';
import { counted } from '../parts/figure.ts';
import { useRenewConnections } from '../parts/renew-connections.ts';
import { InlineError, Loaded } from '../parts/states.tsx';
import { thresholdPhrase } from '../parts/threshold-value.ts';
import { Time } from '../parts/time.tsx';
import { offerUndo } from '../parts/undo.ts';
import { undoThresholds, valuesOf } from '../parts/undo-thresholds.ts';
import { ownThresholdsQuery } from './thresholds-query.ts';

/** The most connections shown at once. */
const SHOWN = 50;

interface SetByProps {
  check: CheckThresholds;
  /** Those of the check. */
  overrides: readonly Override[];
  /** Edits those of a tag, or of all connections ('' = none). Null when the member may not. */
  onEdit: ((tag: string) => void) | null;
}

/** Who set which thresholds of a check, for what, and when. */
export function SetBy({ check, overrides, onEdit }: SetByProps) {
  const own = useQuery(ownThresholdsQuery(check.check_id));
  const unitOf = (name: string) => check.thresholds.find((one) => one.name === name)?.unit ?? 'count';
  const tags = [...Map.groupBy(overrides, ({ tag }) => tag)];
  return (
    <section aria-labelledby="set-by" className="threshold-section">
      <h3 id="set-by">Current settings</h3>
      <p className="mono small quiet">{check.check_id}</p>
      <ul className="threshold-set-by">
        {tags.map(([tag, set]) => (
          <li key={tag}>
            {tag === '' ? <strong>All connections</strong> : <bdi className="tag">{tag}</bdi>}{' '}
            {onEdit && (
              <Button
                aria-label={`Edit thresholds of ${tag === '' ? 'all connections' : tag}`}
                kind="quiet"
                onPress={() => onEdit(tag)}
                small
              >
                Edit
              </Button>
            )}
            <ul className="threshold-values">
              {set.map(({ name, value, changed_at, changed_by }) => (
                <li key={name}>
                  {thresholdPhrase(name, value, unitOf(name))}, by <bdi>{changed_by}</bdi>{' '}
                  <Time at={changed_at} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <Loaded query={own}>
        {(listed) =>
          listed.total > 0 ? (
            <Own check={check} listed={listed} mayWrite={onEdit !== null} unitOf={unitOf} />
          ) : (
            <p className="quiet">
              {tags.length === 0 ? 'All connections use the defaults.' : 'No connection sets its own.'}
            </p>
          )
        }
      </Loaded>
    </section>
  );
}

interface OwnProps {
  check: CheckThresholds;
  listed: OwnThresholds;
  mayWrite: boolean;
  unitOf: (name: string) => CheckThresholds['thresholds'][number]['unit'];
}

function Own({ check: { check_id }, listed: { data, total }, mayWrite, unitOf }: OwnProps) {
  const refresh = useRenewConnections();
  const reset = useMutation({
    async mutationFn() {
      const names = new Set(data.flatMap(({ thresholds }) => thresholds.map(({ name }) => name)));
      const set = Object.fromEntries([...names].map((name) => [name, null]));
      const before = new Map(data.map(({ id, thresholds }) => [id, valuesOf(thresholds)]));
      await send('POST', '/thresholds', { connections: [...before.keys()], thresholds: { [check_id]: set } });
      return { check: check_id, set, before };
    },
    async onSuccess(made) {
      await refresh();
      offerUndo(
        'Thresholds reset. The next check uses those of tags, of all connections, or the defaults.',
        () => undoThresholds(made).finally(refresh),
      );
    },
  });
  return (
    <>
      <p>
        <strong>{counted(total, 'connection')}</strong>{' '}
        {mayWrite && (
          <Button isPending={reset.isPending} onPress={() => reset.mutate()} small>
            {data.length < total ? `Reset the first ${data.length.toLocaleString('en')}` : 'Reset'}
            <span className="hidden-text"> the thresholds of connections</span>
          </Button>
        )}
      </p>
      <ul className="threshold-set-by">
        {data.slice(0, SHOWN).map(({ id, name, thresholds }) => (
          <li key={id}>
            <ConnectionLink id={id} name={name} />
            <ul className="threshold-values">
              {thresholds.map(({ name: threshold, value, changed_at, changed_by }) => (
                <li key={threshold}>
                  {thresholdPhrase(threshold, value, unitOf(threshold))}
                  {changed_by !== null && changed_at !== null && (
                    <>
                      , by <bdi>{changed_by}</bdi> <Time at={changed_at} />
                    </>
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {total > SHOWN && <p className="quiet small">{(total - SHOWN).toLocaleString('en')} more</p>}
      <InlineError error={reset.error} />
    </>
  );
}
