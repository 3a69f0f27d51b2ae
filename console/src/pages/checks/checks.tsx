import './checks.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { OwnChecks, ShownOwnCheck } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { ENGINE_NAMES } from '../../../../src/vocabulary/engines.ts';
import { read, send } from '../../api.ts';
import { actionsColumn } from '../../parts/actions-column.tsx';
import { Button } from '../../parts/button.tsx';
import { ConfirmRequest } from '../../parts/confirm-request.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { counted } from '../../parts/figure.ts';
import { Facts, Page } from '../../parts/page.tsx';
import { useRestoredFocus } from '../../parts/restore-focus.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Tags } from '../../parts/tags.tsx';
import { Time } from '../../parts/time.tsx';
import { useCan } from '../../shell/profile.ts';
import type { ChecksSearch } from './checks-search.ts';
import { levelsText } from './levels-text.ts';
import { OwnCheckForm } from './own-check-form.tsx';
import { everyText } from './reading-times.ts';

const ownChecksQuery = read<OwnChecks>('/own-checks');

/** The checks that members of the account wrote. */
export function ChecksPage() {
  const can = useCan();
  const query = useQuery(ownChecksQuery);
  const navigate = useNavigate({ from: '/checks' });
  const mayWrite = can('checks:write');
  const show = (search: ChecksSearch) => void navigate({ search, replace: true, resetScroll: false });
  return (
    <Page
      actions={
        mayWrite && (
          <Button icon="plus" isDisabled={!query.data} kind="primary" onPress={() => show({ add: '1' })}>
            Add check
          </Button>
        )
      }
      description="A check of your own is one SELECT and what its numbers mean. It runs with the health checks, and its findings open tickets and alerts as all others do."
      title="Own checks"
    >
      <Loaded query={query}>{(list) => <OwnCheckList list={list} mayWrite={mayWrite} show={show} />}</Loaded>
    </Page>
  );
}

interface ListProps {
  list: OwnChecks;
  mayWrite: boolean;
  show: (search: ChecksSearch) => void;
}

function OwnCheckList({ list: { items }, mayWrite, show }: ListProps) {
  const search = useSearch({ from: '/in/checks' });
  const [removed, setRemoved] = useState<ShownOwnCheck | null>(null);
  const close = () => show({});
  const opened = items.find(({ id }) => id === search.check);
  useRestoredFocus(search.add !== undefined || opened !== undefined || removed !== null);
  return (
    <>
      <Table
        empty={
          <Message icon="check" title="No own checks yet">
            Orders that hang, the depth of a queue, failed payments: numbers that only your team knows.
            {!mayWrite && ' An owner or administrator can add a check.'}
          </Message>
        }
        columns={listColumns(mayWrite, show, setRemoved)}
        label="Own checks"
        rowKey={({ id }) => id}
        rows={items}
      />
      {mayWrite && search.add && <OwnCheckForm onClose={close} own={null} />}
      {opened && mayWrite && <OwnCheckForm key={opened.id} onClose={close} own={opened} />}
      {opened && !mayWrite && <OwnCheckDetails onClose={close} own={opened} />}
      {removed && (
        <ConfirmRequest
          action="Remove check"
          done="Check removed. The next health check resolves its tickets."
          onClose={() => setRemoved(null)}
          renews={['own-checks']}
          request={() => send('DELETE', `/own-checks/${removed.id}`)}
          title="Remove this check?"
        >
          <p>
            <bdi>{removed.title}</bdi> no longer runs, and the next health check of its connections resolves
            its tickets. What it measured stays.
          </p>
        </ConfirmRequest>
      )}
    </>
  );
}

function listColumns(
  mayWrite: boolean,
  show: ListProps['show'],
  remove: (own: ShownOwnCheck) => void,
): Column<ShownOwnCheck>[] {
  const columns: Column<ShownOwnCheck>[] = [
    {
      header: 'Check',
      width: 'minmax(12rem, 3fr)',
      narrow: 'lead',
      cell: ({ id, title }) => (
        <span className="own-check-name">
          <Link className="row-link" from="/checks" search={{ check: id }} to="/checks">
            <bdi>{title}</bdi>
          </Link>
          <span className="mono small quiet">OWN_{id}</span>
        </span>
      ),
    },
    { header: 'Reports', width: 'minmax(10rem, 2fr)', cell: (own) => levelsText(own) },
    {
      header: 'Runs on',
      width: 'minmax(10rem, 2fr)',
      cell: ({ engine, tags, connections }) => (
        <>
          {counted(connections, 'connection')} ({ENGINE_NAMES[engine]}) <Tags tags={tags} />
        </>
      ),
    },
    {
      header: 'Changed',
      width: 'minmax(8rem, 1fr)',
      cell: ({ changed_at, changed_by }) => (
        <>
          <bdi>{changed_by}</bdi> <Time at={changed_at} />
        </>
      ),
    },
  ];
  if (!mayWrite) return columns;
  const actions = actionsColumn<ShownOwnCheck>(
    ({ title }) => title,
    (own) => [
      { label: 'Edit…', icon: 'pen', onAction: () => show({ check: own.id }) },
      { label: 'Remove…', icon: 'bin', danger: true, onAction: () => remove(own) },
    ],
  );
  return [...columns, actions];
}

/** An own check, for a member who may not change it. */
function OwnCheckDetails({ own, onClose }: { own: ShownOwnCheck; onClose: () => void }) {
  const { id, title, engine, database, sql, remediation, every, timeout, tags, changed_at, changed_by } = own;
  return (
    <Dialog onClose={onClose} title={title} wide>
      <Facts
        facts={[
          ['ID', `OWN_${id}`],
          ['Reports', levelsText(own)],
          ['Engine', ENGINE_NAMES[engine]],
          ['Database', database ?? 'that of the connection'],
          ['Tags', tags.length === 0 ? 'any' : tags.join(', ')],
          ['Runs', everyText(every)],
          ['Time limit', `${timeout} s`],
          [
            'Changed',
            <span key="changed">
              <bdi>{changed_by}</bdi>, <Time at={changed_at} />
            </span>,
          ],
        ]}
      />
      <CodeBlock text={sql} what="SQL" />
      {remediation && <p className="own-check-remediation">{remediation}</p>}
    </Dialog>
  );
}
