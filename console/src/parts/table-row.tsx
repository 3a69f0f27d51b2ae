import { memo, type ReactNode, type Ref } from 'react';
import { useTimeZone } from '../time-zone.ts';

export interface Column<Row> {
  /** What `sort` calls it; its header by default. */
  id?: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** A track of a CSS grid, such as `6rem` or `minmax(10rem, 2fr)`; `minmax(0, 1fr)` unless told. `auto` only in short lists. */
  width?: string;
  align?: 'end';
  isSortable?: boolean;
  /** On narrow screens: `lead` comes first without its header, `corner` goes to the corner, `hide` is hidden. */
  narrow?: 'lead' | 'corner' | 'hide';
  /** Hides the header visually: for a column of buttons. */
  hideHeader?: boolean;
}

/** The classes of a column's cells and header. */
export function cellClass<Row>({ align, narrow }: Column<Row>): string {
  return `table-cell ${align === 'end' ? 'at-end' : ''} ${narrow ?? ''}`;
}

interface RowProps<Row> {
  row: Row;
  index: number;
  columns: readonly Column<Row>[];
  /** Content above the row, over its full width. */
  heading: ReactNode;
  /** Content below the row, over its full width. */
  detail: ReactNode;
  measure: Ref<HTMLDivElement> | undefined;
}

function TableRow<Row>({ row, index, columns, heading, detail, measure }: RowProps<Row>) {
  useTimeZone();
  return (
    <div className="table-item" data-index={index} ref={measure} role="presentation">
      {heading && (
        <div className="table-above" role="row">
          <div aria-colspan={columns.length} className="table-heading" role="rowheader">
            {heading}
          </div>
        </div>
      )}
      <div aria-rowindex={index + 2} className="table-row" role="row">
        {columns.map((column) => (
          <div
            className={cellClass(column)}
            data-label={column.hideHeader ? '' : column.header}
            key={column.id ?? column.header}
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

/** A row and its detail. It renders again only when the row, its index, its columns or the time zone change, not while scrolling. */
export const MemoRow = memo(TableRow) as typeof TableRow;
