import { memo, type ReactNode, type Ref } from 'react';

export interface Column<Row> {
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** A track of a CSS grid, such as `6rem` or `minmax(10rem, 2fr)`; `minmax(0, 1fr)` unless told. `auto` only in short lists. */
  width?: string;
  align?: 'end';
  isSortable?: boolean;
  /** Where there is no room for columns: `lead` stands first without its name, `corner` at its end, `hide` is left away. */
  narrow?: 'lead' | 'corner' | 'hide';
  /** The header is read, not seen: of a column of buttons. */
  hideHeader?: boolean;
}

/** The classes of a column's cells, its header too. */
export function cellClass<Row>({ align, narrow }: Column<Row>): string {
  return `table-cell ${align === 'end' ? 'at-end' : ''} ${narrow ?? ''}`;
}

interface RowProps<Row> {
  row: Row;
  index: number;
  columns: readonly Column<Row>[];
  /** Below the row, over its whole width. */
  detail: ReactNode;
  measure: Ref<HTMLDivElement> | undefined;
}

function TableRow<Row>({ row, index, columns, detail, measure }: RowProps<Row>) {
  return (
    <div className="table-item" data-index={index} ref={measure} role="presentation">
      <div aria-rowindex={index + 2} className="table-row" role="row">
        {columns.map((column) => (
          <div
            className={cellClass(column)}
            data-label={column.hideHeader ? '' : column.header}
            key={column.id}
            role="cell"
          >
            {column.cell(row)}
          </div>
        ))}
      </div>
      {detail && (
        <div className="table-below" role="row">
          <div aria-colspan={columns.length} className="table-detail" role="cell">
            {detail}
          </div>
        </div>
      )}
    </div>
  );
}

/** A row with what stands below it. Drawn anew only when it, its place or its columns are others: not while one scrolls. */
export const MemoRow = memo(TableRow) as typeof TableRow;
