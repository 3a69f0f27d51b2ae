import type { ConnectionQueries } from '../../../../../src/console-api/queries/query-schemas.ts';
import { RangeSwitch } from '../../../parts/chart/range-switch.tsx';
import { FilterSelect } from '../../../parts/filter-select.tsx';
import { Filters } from '../../../parts/page.tsx';
import type { ConnectionSearch } from '../connection-search.ts';

interface QueryFiltersProps {
  found: ConnectionQueries | undefined;
  search: ConnectionSearch;
  show: (changed: ConnectionSearch) => void;
}

/** Which queries are listed. */
export function QueryFilters({ found, search, show }: QueryFiltersProps) {
  const { database, role, application, unnamed } = search;
  return (
    <Filters>
      <NameFilter
        all="All databases"
        names={found?.databases}
        onChange={(name) => show({ database: name })}
        value={database}
      />
      <NameFilter
        all="All roles"
        names={found?.roles}
        onChange={(name) => show({ role: name })}
        value={role}
      />
      <NameFilter
        all="All applications"
        hasUnnamed
        names={found?.applications}
        onChange={(name) =>
          show(
            name === ''
              ? { application: undefined, unnamed: 'application' }
              : { application: name, unnamed: undefined },
          )
        }
        value={unnamed ? '' : application}
      />
      <RangeSwitch hasCharts={false} />
    </Filters>
  );
}

interface NameFilterProps {
  /** No filter, such as "All roles". */
  all: string;
  names: readonly string[] | undefined;
  /** '' among them is a choice, "(none)". */
  hasUnnamed?: boolean;
  value: string | undefined;
  onChange: (name: string | undefined) => void;
}

/** Before the names, so that none is empty. */
const MARK = '=';

/** A filter by a name of the watched server; nothing if there is no choice. */
function NameFilter({ all, names = [], hasUnnamed = false, value, onChange }: NameFilterProps) {
  const given = [...new Set(value === undefined ? names : [...names, value])];
  const choices = hasUnnamed ? given : given.filter((name) => name !== '');
  if (choices.length < 2 && value === undefined) return null;
  return (
    <FilterSelect
      all={all}
      choices={choices.map((name) => ({ id: MARK + name, label: name || '(none)' }))}
      chosen={value === undefined ? undefined : MARK + value}
      label={all}
      onChange={(id) => onChange(id?.slice(MARK.length))}
    />
  );
}
