import { IconButton } from './button.tsx';
import { type Action, ActionMenu } from './menu.tsx';
import type { Column } from './table.tsx';

/** The column with a menu of what can be done with a row, which `name` tells from others; nothing where that is nothing. */
export function actionsColumn<Row>(
  name: (row: Row) => string,
  actionsOf: (row: Row) => readonly Action[],
): Column<Row> {
  return {
    id: 'actions',
    header: 'Actions',
    hideHeader: true,
    width: '2.5rem',
    align: 'end',
    narrow: 'corner',
    cell: (row) => {
      const actions = actionsOf(row);
      if (actions.length === 0) return null;
      const label = `Actions for ${name(row)}`;
      return (
        <ActionMenu actions={actions} label={label} trigger={<IconButton icon="more" label={label} />} />
      );
    },
  };
}
