import './page-views.css';
import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useEffect, useRef } from 'react';

/** The views of a page, as a line of links. On a narrow window the line scrolls to the open view. */
export function PageViews({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label}>
      <ul className="page-views">{children}</ul>
    </nav>
  );
}

interface ViewProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  isOpen: boolean;
  ref?: Ref<HTMLAnchorElement>;
}

/** The router's own status looks at all search parameters: a view with an open panel would not be marked. */
function View({ isOpen, ref, children, ...props }: ViewProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isOpen && item.current) scrollLineTo(item.current);
  }, [isOpen]);
  return (
    <li ref={item}>
      <a
        {...props}
        aria-current={isOpen ? 'page' : undefined}
        className="page-view"
        data-status={isOpen ? 'active' : undefined}
        ref={ref}
      >
        {children}
      </a>
    </li>
  );
}

/** Scrolls the line of an item until all of the item is in it; the page stays where it is. */
function scrollLineTo(item: HTMLElement): void {
  const line = item.parentElement;
  if (!line) return;
  const [inner, outer] = [item.getBoundingClientRect(), line.getBoundingClientRect()];
  if (inner.right > outer.right) line.scrollLeft += inner.right - outer.right;
  if (inner.left < outer.left) line.scrollLeft += inner.left - outer.left;
}

/** A link of `PageViews`. Takes the props of the router's Link. */
export const PageView = createLink(View);
