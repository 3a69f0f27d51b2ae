import './side-panel.css';
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from './button.tsx';
import { useShortcut } from './shortcut.ts';

/** Wide enough for the list and the panel; the same width as in side-panel.css. */
const BESIDE = '(width > 72rem)';

interface SidePanelProps {
  kind: 'alert' | 'ticket' | 'delivery';
  id: string;
  onClose: () => void;
  children: ReactNode;
}

/** One item of a list beside the list, or instead of it on narrow screens. Escape closes it. */
export function SidePanel({ kind, id, onClose, children }: SidePanelProps) {
  useShortcut('Escape', onClose);
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${id}`;
  return (
    <section aria-label={name} className={`side-panel ${kind}-panel`}>
      <div className="panel-close">
        <span className="quiet small">{name}</span>
        <IconButton icon="close" label={`Close ${kind}`} onPress={onClose} />
      </div>
      {children}
    </section>
  );
}

/** The heading of a panel's content. It takes the focus when it appears. */
export function PanelHeading({ children }: { children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    // The panel replaces the list, which may be scrolled far down. That of a ticket or an alert begins its page.
    if (matchMedia(BESIDE).matches) return;
    const panel = heading.current?.closest('.side-panel');
    if (panel?.classList.contains('delivery-panel')) panel.scrollIntoView({ block: 'start' });
    else scrollTo(0, 0);
  }, []);
  return (
    <h2 ref={heading} tabIndex={-1}>
      <bdi>{children}</bdi>
    </h2>
  );
}
