import { useState } from 'react';
import type { Silence } from '../../../../src/console-api/connections/silences.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { endSilences } from '../../parts/end-silences.ts';
import { Section } from '../../parts/page.tsx';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { reasonText } from '../../parts/silence-reasons.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useCan } from '../../shell/profile.ts';

/** The active silences, each with its reason and end. */
export function Silences({ silences }: { silences: readonly Silence[] }) {
  const mayWrite = useCan()('connections:write');
  const renew = useRenewConnections();
  const [ending, setEnding] = useState<Silence | null>(null);
  const end = useAction({
    request: () => endSilences(ending ? [ending.id] : [], renew),
    onDone: () => setEnding(null),
  });
  const ask = (silence: Silence) => {
    end.reset();
    setEnding(silence);
  };
  if (silences.length === 0) return null;
  const columns: Column<Silence>[] = [
    {
      header: 'Silenced',
      width: 'minmax(9rem, 2fr)',
      narrow: 'lead',
      cell: ({ check_id, object }) => (
        <>
          <span className="mono">{check_id}</span>
          <span className="finding-place">
            {object === null ? 'all objects' : <bdi className="mono">{object}</bdi>}
          </span>
        </>
      ),
    },
    {
      header: 'Reason',
      width: 'minmax(9rem, 3fr)',
      cell: ({ reason, note }) => (
        <>
          {reasonText(reason)}: <bdi>{note}</bdi>
        </>
      ),
    },
    { header: 'Since', width: '8rem', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      header: 'Until',
      width: '10rem',
      cell: ({ until }) => (until ? <Time as="local" at={until} /> : 'no end date'),
    },
    {
      header: 'End',
      width: '5rem',
      align: 'end',
      hideHeader: true,
      cell: (silence) =>
        mayWrite && (
          <Button aria-label={`End silence of ${silence.check_id}`} onPress={() => ask(silence)} small>
            End
          </Button>
        ),
    },
  ];
  return (
    <Section
      description="Silenced findings are listed as skipped, do not affect the score and open no tickets."
      title="Silences"
    >
      <Table columns={columns} label="Silences" rowKey={({ id }) => id} rows={silences} />
      {ending && (
        <Confirm action="End silence" onClose={() => setEnding(null)} title="End this silence?" work={end}>
          <p>
            The next check can open a ticket for <span className="mono">{ending.check_id}</span> again.
          </p>
        </Confirm>
      )}
    </Section>
  );
}
