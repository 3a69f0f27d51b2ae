import '../../parts/page-views.css';
import { Link } from '@tanstack/react-router';
import type { ConnectionTab } from '../../../../src/vocabulary/connection-tabs.ts';
import { type Engine, isSqlEngine } from '../../../../src/vocabulary/engines.ts';
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

/** The tabs of a connection's page. The range of the charts stays from tab to tab. */
export function ConnectionTabs({
  id,
  engine,
  search,
}: {
  id: string;
  engine: Engine;
  search: ConnectionSearch;
}) {
  const open = openTab(search);
  const { range, from, to } = search;
  return (
    <nav aria-label="Connection">
      <ul className="page-views connection-views">
        {TABS.filter(({ tab }) => tab !== 'queries' || isSqlEngine(engine)).map(({ tab, label }) => (
          <li key={tab}>
            <Link
              // The router's own status looks at all parameters.
              activeProps={{}}
              aria-current={tab === open ? 'page' : undefined}
              className="page-view"
              data-status={tab === open ? 'active' : undefined}
              params={{ id }}
              resetScroll={false}
              search={{ tab, ...(range && { range }), ...(from && { from }), ...(to && { to }) }}
              to="/connections/$id"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
