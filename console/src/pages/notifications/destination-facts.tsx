import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Fleet } from '../../../../src/console-api/fleet/fleet-routes.ts';
import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { EVENTLESS_CHANNELS, GROUPING_CHANNELS } from '../../../../src/vocabulary/channels.ts';
import { read } from '../../api.ts';
import { figure } from '../../parts/figure.ts';
import { KIND_TEXTS } from '../../parts/kind-texts.ts';
import { Facts } from '../../parts/page.tsx';
import { planName } from '../../parts/plan-access.tsx';
import { Time } from '../../parts/time.tsx';
import { useProfile } from '../../shell/profile.ts';
import { DestinationState } from './destination-state.tsx';
import { digestWhen } from './digest-texts.ts';

const LIST = new Intl.ListFormat('en-GB');

/** What a log stream sends, and how far it is. A heartbeat has neither. */
function streamFacts({ stream }: Destination): (readonly [string, ReactNode])[] {
  if (stream === null) return [];
  const { format, action_types, excluded_types, actors, next_id, behind_entries, behind_seconds } = stream;
  const except = excluded_types.length === 0 ? '' : `, except ${LIST.format(excluded_types)}`;
  return [
    ['Format', format],
    ['Entries', `${action_types === null ? 'all' : LIST.format(action_types)}${except}`],
    ['By', actors === null ? 'anybody' : LIST.format(actors)],
    ['Next entry', figure(next_id)],
    [
      'Behind',
      behind_entries === 0 ? 'nothing' : `${figure(behind_entries)} entries, ${figure(behind_seconds)} s`,
    ],
    ['Delivered', `${figure(stream.entries)} entries`],
  ];
}

/** A destination's health and settings. */
export function DestinationFacts({ destination }: { destination: Destination }) {
  const { queue, channel, minimum_severity, requests_per_second, quiet_hours, created_at } = destination;
  const { queued, dropped, last_sequence, last_success_at, last_attempt_at } = queue;
  const filters: (readonly [string, ReactNode])[] = EVENTLESS_CHANNELS.includes(channel)
    ? streamFacts(destination)
    : [
        ['Queued', figure(queued)],
        ['Dropped', dropped === 0 ? 'none' : `${figure(dropped)} health checks`],
        ['Last sequence number', last_sequence === 0 ? '–' : figure(last_sequence)],
        ['Events', <Kinds destination={destination} key="kinds" />],
        ['Severity', severityText(minimum_severity)],
        ['Connections', <Scope connections={destination.connections} key="scope" />],
        ['Rate limit', requests_per_second === 1 ? '1 request/s' : `${requests_per_second} requests/s`],
        [
          'Quiet hours',
          quiet_hours ? `${quiet_hours.from} to ${quiet_hours.to}, ${quiet_hours.time_zone}` : 'none',
        ],
        ...(GROUPING_CHANNELS.includes(channel) ? [digestFact(destination)] : []),
      ];
  return (
    <div className="destination-facts">
      <Facts
        facts={[
          ['State', <DestinationState destination={destination} key="state" />],
          ['Last success', last_success_at ? <Time at={last_success_at} key="success" /> : 'never'],
          ['Last attempt', last_attempt_at ? <Time at={last_attempt_at} key="attempt" /> : 'never'],
          ...filters,
          ['Added', <Time as="local" at={created_at} key="added" />],
        ]}
      />
    </div>
  );
}

function digestFact({ digest, next_digest_at }: Destination): readonly [string, ReactNode] {
  if (digest === null || next_digest_at === null) return ['Digest', 'never'];
  return [
    'Digest',
    <span key="digest">
      {digestWhen(digest)}; next: <Time as="local" at={next_digest_at} />
    </span>,
  ];
}

function severityText(minimum: Destination['minimum_severity']): string {
  if (minimum === 'critical') return 'critical only';
  return minimum === 'warning' ? 'warning and critical' : 'all';
}

function Kinds({ destination: { kinds, kinds_not_in_plan } }: { destination: Destination }) {
  const { plan } = useProfile().account;
  const names = kinds.map((kind) => KIND_TEXTS[kind].name.toLowerCase());
  const missing = kinds_not_in_plan.map((kind) => KIND_TEXTS[kind].name.toLowerCase());
  return (
    <>
      {names.length === 0 ? 'none' : LIST.format(names)}
      {missing.length > 0 && (
        <div className="small destination-dropped">
          Not in the {planName(plan)} plan: {LIST.format(missing)}
        </div>
      )}
    </>
  );
}

function Scope({ connections: { ids, names } }: Pick<Destination, 'connections'>) {
  const { data } = useQuery({
    ...read<Fleet>('/fleet', { q: '', sort: 'name' }),
    enabled: ids !== null,
  });
  if (ids === null && names === null) return 'all';
  const known = new Map(data?.data.map(({ id, name }) => [id, name]));
  const shown = [...(ids ?? []).map((id) => known.get(id) ?? `connection ${id}`), ...(names ?? [])];
  return shown.map((name, place) => (
    <span key={name}>
      {place > 0 && ', '}
      <bdi>{name}</bdi>
    </span>
  ));
}
