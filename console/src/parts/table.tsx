import './table.css';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type ReactNode, useCallback, useRef } from 'react';
import { Icon } from './icons.tsx';
import { focusedRow, focusRow, onArrow, useKeyboardNavigation } from './keyboard-navigation.ts';
import type { Pages } from './more-button.tsx';
import { onRowAuxClick, onRowClick } from './table-click.ts';
import { type Column, cellClass, MemoRow } from './table-row.tsx';
import { useEnd, useTop } from './table-scroll.ts';

export type { Column } from './table-row.tsx';

export interface Sort {
  column: string;
  descending: boolean;
}

interface TableProps<Row> {
  /** The accessible name of the list. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** The list of the rows, whose next page is loaded when their end comes into view. */
  pages?: Pages;
  /** A heading above a row, such as that of a group which begins with it; null for none. */
  heading?: (row: Row, before: Row | undefined) => ReactNode;
  /** Content below a row, over its full width; null for none. */
  detail?: (row: Row) => ReactNode;
  /** `j` and `k` go to the next and previous row, as the arrows do within the list; Enter opens the row's `.row-link`. */
  hasKeyboardNavigation?: boolean;
  /** What stands in place of a table without rows. */
  empty?: ReactNode;
  /** Height of most rows in pixels, before they are measured. */
  rowHeight?: number;
}

/** Up to this count all rows are drawn, so that find-in-page and screen readers have them all. */
const DRAWN_WHOLE = 200;

/**
 * The first page of a list that grows while scrolling. Drawing a second page whole was the longest task, 73 ms
 * (measured).
 */
const DRAWN_OF_GROWING = 100;

/**
 * A table. Of many rows only the visible ones are drawn. A link with the class `row-link` in a cell makes the row
 * clickable.
 */
export function Table<Row>({ empty, ...props }: TableProps<Row>) {
  return empty !== undefined && props.rows.length === 0 ? empty : <TableOfRows {...props} />;
}

function TableOfRows<Row>(props: Omit<TableProps<Row>, 'empty'>) {
  const { label, columns, rows, rowKey, hasKeyboardNavigation = false, pages } = props;
  const body = useRef<HTMLDivElement>(null);
  // The row of keyboard navigation: a row scrolled out of view is removed, and its focus is lost.
  const at = useRef(-1);
  const isVirtual = rows.length > (pages ? DRAWN_OF_GROWING : DRAWN_WHOLE);
  // A growing list measures its rows before it becomes virtual, so that visible rows keep their place and focus.
  const isMeasured = isVirtual || pages !== undefined;
  const top = useTop(body);
  // Memoised: with a new function, all positions are computed again on every scroll event.
  const getItemKey = useCallback((index: number) => keyAt(rows, rowKey, index), [rows, rowKey]);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    enabled: isMeasured,
    estimateSize: () => props.rowHeight ?? 45,
    getItemKey,
    overscan: 10,
    scrollMargin: top,
    scrollPaddingStart: 96,
    scrollPaddingEnd: 32,
    // Draws in a separate task, so that the next scroll event does not wait for it.
    useFlushSync: false,
  });
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = isVirtual ? undefined : () => false;
  const drawn = virtualizer.getVirtualItems();
  const first = drawn[0];
  const last = drawn.at(-1);
  const head = rows[0];
  const end = useEnd(head === undefined ? '' : `${rowKey(head)} ${rows.length}`, pages);
  const goTo = (index: number) => {
    if (index < 0 || index >= rows.length) return;
    at.current = index;
    if (isVirtual) virtualizer.scrollToIndex(index);
    focusRow(body, index);
  };
  useKeyboardNavigation(hasKeyboardNavigation, at, goTo);
  const indices = isVirtual ? drawn.map(({ index }) => index) : rows.map((_, index) => index);
  const space: CSSProperties =
    isVirtual && first && last
      ? {
          paddingBlockStart: first.start - top,
          paddingBlockEnd: virtualizer.getTotalSize() - (last.end - top),
        }
      : {};
  const tracks = columns.map(({ width }) => width ?? 'minmax(0, 1fr)').join(' ');
  return (
    <div className="table-place">
      <div
        aria-label={label}
        aria-rowcount={rows.length + 1}
        className={isVirtual ? 'table long' : 'table'}
        role="table"
        style={tracksStyle(tracks)}
      >
        <div className="table-head" role="rowgroup">
          <div aria-rowindex={1} className="table-row" role="row">
            {columns.map((column) => (
              <HeaderCell
                column={column}
                key={column.id ?? column.header}
                onSort={props.onSort}
                sort={props.sort}
              />
            ))}
          </div>
        </div>
        <div
          className="table-body"
          onAuxClick={onRowAuxClick}
          onClick={onRowClick}
          onKeyDown={hasKeyboardNavigation ? (event) => onArrow(event, goTo) : undefined}
          onFocus={() => {
            at.current = focusedRow();
          }}
          ref={body}
          role="rowgroup"
          style={space}
        >
          {indices.map((index) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <MemoRow
                columns={columns}
                detail={props.detail?.(row)}
                heading={props.heading?.(row, rows[index - 1])}
                index={index}
                key={rowKey(row)}
                measure={isMeasured ? virtualizer.measureElement : undefined}
                row={row}
              />
            );
          })}
        </div>
      </div>
      {pages && <div aria-hidden="true" className="table-end" ref={end} />}
    </div>
  );
}

/** CSSProperties does not know custom properties. */
function tracksStyle(tracks: string): CSSProperties {
  return { '--tracks': tracks } as CSSProperties;
}

function keyAt<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string | number,
  index: number,
): string | number {
  const row = rows[index];
  return row === undefined ? index : rowKey(row);
}

interface HeaderProps<Row> {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}

function HeaderCell<Row>({ column, sort, onSort }: HeaderProps<Row>) {
  const { header, id = header, isSortable = false, hideHeader = false } = column;
  const isSorted = sort?.column === id;
  const order = isSorted && sort.descending ? 'descending' : 'ascending';
  return (
    <div aria-sort={isSorted ? order : undefined} className={cellClass(column)} role="columnheader">
      {isSortable && onSort ? (
        <button
          className="sort-button"
          onClick={() => onSort({ column: id, descending: isSorted && !sort.descending })}
          type="button"
        >
          {header}
          <span className={isSorted ? 'sort-mark' : 'sort-mark sort-none'}>
            <Icon name={order === 'descending' ? 'down' : 'up'} size={12} />
          </span>
        </button>
      ) : (
        <span className={hideHeader ? 'hidden-text' : ''}>{header}</span>
      )}
    </div>
  );
}
