import './table.css';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type ReactNode, useCallback, useRef } from 'react';
import { Icon } from './icons.tsx';
import { focusedRow, focusRow, onArrow, useKeyboardNavigation } from './keyboard-navigation.ts';
import { onRowAuxClick, onRowClick } from './table-click.ts';
import { type Column, cellClass, MemoRow } from './table-row.tsx';
import { useEnd, useTop } from './table-scroll.ts';

export type { Column } from './table-row.tsx';

export interface Sort {
  column: string;
  descending: boolean;
}

interface TableProps<Row> {
  /** What is listed, to screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** The end of the rows comes in sight: more can be fetched. */
  onEnd?: () => void;
  /** Below a row, over its whole width; null for none. */
  detail?: (row: Row) => ReactNode;
  /** `j` and `k` go to the next and previous row, as the arrows do within the list; Enter opens the row's `.row-link`. */
  hasKeyboardNavigation?: boolean;
  /** Height of most rows in pixels, before they are measured. */
  rowHeight?: number;
}

/** Up to here all rows are drawn: find-in-page and screen readers have them all. */
const DRAWN_WHOLE = 200;

/** Of a list that grows as one scrolls, its first page: drawing a second one whole took the longest task of all, 73 ms. */
const DRAWN_OF_GROWING = 100;

/** Rows under headings; of many only those in sight are drawn. A link of the class `row-link` in a cell makes the row clickable. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowKey, hasKeyboardNavigation = false, onEnd } = props;
  const body = useRef<HTMLDivElement>(null);
  // Where the keys are: a row that is scrolled out of sight is taken away, and the focus with it.
  const at = useRef(-1);
  const isVirtual = rows.length > (onEnd ? DRAWN_OF_GROWING : DRAWN_WHOLE);
  // Before a growing list is too long its rows are measured, so that those in sight stay there, and the focus with them.
  const isMeasured = isVirtual || onEnd !== undefined;
  const top = useTop(body);
  // The same function for the same rows: with another one all places are computed anew, on every turn of the wheel.
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
    // Drawn in a task of its own, so that the next turn of the wheel need not wait for it.
    useFlushSync: false,
  });
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = isVirtual ? undefined : () => false;
  const drawn = virtualizer.getVirtualItems();
  const first = drawn[0];
  const last = drawn.at(-1);
  const head = rows[0];
  const end = useEnd(head === undefined ? '' : `${rowKey(head)} ${rows.length}`, onEnd);
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
              <HeaderCell column={column} key={column.id} onSort={props.onSort} sort={props.sort} />
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
                index={index}
                key={rowKey(row)}
                measure={isMeasured ? virtualizer.measureElement : undefined}
                row={row}
              />
            );
          })}
        </div>
      </div>
      {onEnd && <div aria-hidden="true" className="table-end" ref={end} />}
    </div>
  );
}

/** A custom property is no known name of CSSProperties. */
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
  const { id, header, isSortable = false, hideHeader = false } = column;
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
