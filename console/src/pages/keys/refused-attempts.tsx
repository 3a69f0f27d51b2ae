import { useQuery } from '@tanstack/react-query';
import type { KeyRefusals } from '../../../../src/console-api/keys/key-use-routes.ts';
import { read } from '../../api.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { entryColumns } from './request-log.tsx';

const REASONS = new Map([
  ['revoked', 'Revoked'],
  ['regenerated', 'Replaced'],
  ['expired', 'Expired'],
  ['address_not_allowed', 'Address not allowed'],
]);

type Refusal = KeyRefusals['data'][number];

/** Where a key was refused: after its end, or from an address that is not allowed. */
export function RefusedAttempts({ id }: { id: number }) {
  const refusals = useQuery({
    ...read<KeyRefusals>(`/keys/${id}/refusals`),
    refetchInterval: 30_000,
  });
  return (
    <Loaded query={refusals}>
      {({ data }) => (
        <Table
          empty={<Message icon="check" title="No refused attempts" />}
          columns={COLUMNS}
          label="Refused attempts"
          rowKey={(refusal) => refusal.id}
          rows={data}
        />
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<Refusal>[] = [
  ...entryColumns('Recorded'),
  {
    header: 'Reason',
    width: 'minmax(8rem, 1fr)',
    narrow: 'lead',
    cell: ({ reason }) => REASONS.get(reason) ?? reason,
  },
  {
    header: 'From',
    width: 'minmax(8rem, 1fr)',
    cell: ({ source_ip }) =>
      source_ip === null ? 'several addresses' : <span className="mono">{source_ip}</span>,
  },
  {
    header: 'Attempts',
    width: '6rem',
    align: 'end',
    cell: ({ attempts }) => attempts.toLocaleString('en'),
  },
];
