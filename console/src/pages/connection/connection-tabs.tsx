import type { ConnectionTab } from '../../../../src/vocabulary/connection-tabs.ts';
import { type Engine, isSqlEngine } from '../../../../src/vocabulary/engines.ts';
import { PageView, PageViews } from '../../parts/page-views.tsx';
import { type ConnectionSearch, openTab } from './connection-search.ts';

const TABS: readonly { tab: ConnectionTab; label: string }[] = [
  { tab: 'overview', label: 'Overview' },
  { tab: 'now', label: 'Now' },
  { tab: 'findings', label: 'Findings' },
  { tab: 'queries', label: 'Queries' },
  { tab: 'charts', label: 'Charts' },
  { tab: 'changes', label: 'Changes' },
  { tab: 'settings', label: 'Settings' },
];

interface ConnectionTabsProps {
  id: string;
  engine: Engine;
  search: ConnectionSearch;
}

/** The tabs of a connection's page. The range of the charts stays from tab to tab. */
export function ConnectionTabs({ id, engine, search }: ConnectionTabsProps) {
  const open = openTab(search);
  const { range, from, to } = search;
  return (
    <PageViews label="Connection">
      {TABS.filter(({ tab }) => tab !== 'queries' || isSqlEngine(engine)).map(({ tab, label }) => (
        <PageView
          isOpen={tab === open}
          key={tab}
          params={{ id }}
          resetScroll={false}
          search={{ tab, ...(range && { range }), ...(from && { from }), ...(to && { to }) }}
          to="/connections/$id"
        >
          {label}
        </PageView>
      ))}
    </PageViews>
  );
}
