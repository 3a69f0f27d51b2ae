import './page-views.css';
import { createLink } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useEffect, useRef } from 'react';

/** The views of a page, as a line of links. On a narrow window the line scrolls, to the open view at first. */
export function PageViews({ label, open, children }: { label: string; open: string; children: ReactNode }) {
  const list = useRef<HTMLUListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `open` says which link the query below finds
  useEffect(() => {
    const line = list.current;
    const link = line?.querySelector<HTMLElement>('[aria-current]');
    if (!line || !link) return;
    const [inner, outer] = [link.getBoundingClientRect(), line.getBoundingClientRect()];
    if (inner.right > outer.right) line.scrollLeft += inner.right - outer.right;
    if (inner.left < outer.left) line.scrollLeft += inner.left - outer.left;
  }, [open]);
  return (
    <nav aria-label={label}>
      <ul className="page-views" ref={list}>
        {children}
      </ul>
    </nav>
  );
}

interface ViewProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  isOpen: boolean;
  ref?: Ref<HTMLAnchorElement>;
}

/** The router's own status looks at all search parameters: a view with an open panel would not be marked. */
function View({ isOpen, ref, children, ...props }: ViewProps) {
  return (
    <li>
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

/** A link of `PageViews`. Takes the props of the router's Link. */
export const PageView = createLink(View);
