import { IconButton } from './button.tsx';
import { type Action, ActionMenu } from './menu.tsx';
import type { Column } from './table.tsx';

/** The column with a menu of the actions on a row, which `name` tells from others. A row without actions has no menu. */
export function actionsColumn<Row>(
  name: (row: Row) => string,
  listActions: (row: Row) => readonly Action[],
): Column<Row> {
  return {
    header: 'Actions',
    hideHeader: true,
    width: '2.5rem',
    align: 'end',
    narrow: 'corner',
    cell: (row) => {
      const actions = listActions(row);
      if (actions.length === 0) return null;
      const label = `Actions for ${name(row)}`;
      return (
        <ActionMenu actions={actions} label={label} trigger={<IconButton icon="more" label={label} />} />
      );
    },
  };
}
