import type { ReactNode } from 'react';

// Drawn for this console on a 16-pixel grid with strokes of 1.5.
const ICONS = {
  fleet: <path d="M2.5 12.5v-4m3.7 4V5.2m3.6 7.3V7.4m3.7 5.1v-9" />,
  tickets: <path d="M2.5 4.5h11v2.2a1.4 1.4 0 0 0 0 2.7v2.1h-11V9.4a1.4 1.4 0 0 0 0-2.7zM9.5 5v6" />,
  activity: <path d="M5.8 3.5h7.7M5.8 8h7.7M5.8 12.5h7.7M2.6 3.5h.1M2.6 8h.1m-.1 4.5h.1" />,
  threshold: <path d="M2.5 5.5h11M2.5 10.5h11M5.5 3.5v4m5 1v4" />,
  key: <path d="M9.3 6.7a3.4 3.4 0 1 0-2.4 2.7L8.5 11H10v1.5h1.5V14h2.2v-2.6z M5.2 5.4h.1" />,
  team: (
    <path d="M6 7.6a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6M1.8 13a4.2 4.2 0 0 1 8.4 0M10.4 3.2a2.3 2.3 0 0 1 0 4.2m1.2 2a4.2 4.2 0 0 1 2.6 3.6" />
  ),
  account: <path d="M3.5 13.5v-11h6v11m0-7.5h3v7.5m-11 0h13M5.8 5.2h1.4M5.8 8h1.4m-1.4 2.8h1.4" />,
  device: <path d="M3 3.5h10v7H3zM1.8 12.8h12.4" />,
  keyboard: <path d="M1.8 4h12.4v8H1.8zM4.5 6.7h.1m2.3 0H7m2.3 0h.1m2.1 0h.1M5.2 9.6h5.6" />,
  menu: <path d="M2.5 4.5h11m-11 3.5h11m-11 3.5h11" />,
  close: <path d="m4 4 8 8m0-8-8 8" />,
  check: <path d="m3.2 8.4 3 3 6.6-6.8" />,
  copy: <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z" />,
  plus: <path d="M8 3v10M3 8h10" />,
  search: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9m3.3-1.2 3.2 3.2" />,
  down: <path d="m4 6.2 4 4 4-4" />,
  right: <path d="m6.2 4 4 4-4 4" />,
  left: <path d="m9.8 4-4 4 4 4" />,
  up: <path d="m4 9.8 4-4 4 4" />,
  more: <path d="M3.2 8h.1M8 8h.1m4.7 0h.1" strokeWidth="2" />,
  again: <path d="M13.2 6.4A5.5 5.5 0 1 0 13.5 8M13.4 2.8v3.7H9.8" />,
  out: <path d="M6.5 2.5h-4v11h4M6.5 8h7m0 0-2.6-2.6M13.5 8l-2.6 2.6" />,
  outside: <path d="M9.5 2.5h4v4m0-4-6 6m-1-5h-4v9h9v-4" />,
  download: <path d="M8 2.5v7.8m0 0L4.9 7.2M8 10.3l3.1-3.1M2.8 13.5h10.4" />,
  alerts: <path d="M8 2.2 14.4 13.4H1.6zM8 6.3v3.3m0 1.8v.1" />,
  bell: <path d="M2.8 11.7h10.4L12 9.7V6.8a4 4 0 0 0-8 0v2.9zM6.6 13.7h2.8" />,
  silent: <path d="M4 8.6V6.8a4 4 0 0 1 6.6-3M12 6.8v2.9l1.2 2H5.7m.9 2h2.8M2.3 2.3l11.4 11.4" />,
  pen: <path d="m10.6 3 2.4 2.4-7.7 7.7-3 .6.6-3z" />,
  bin: <path d="M2.8 4.5h10.4M6 4.5v-2h4v2m-6 0 .6 9h6.8l.6-9M6.7 7v4m2.6-4v4" />,
  clock: <path d="M8 13.7A5.7 5.7 0 1 0 8 2.3a5.7 5.7 0 0 0 0 11.4M8 4.8V8l2.2 1.6" />,
  offline: (
    <path d="M2 6.2A9 9 0 0 1 5.4 4m3-.6A9 9 0 0 1 14 6.2M4.2 8.8a5.6 5.6 0 0 1 2.3-1.4m3.2.2a5.6 5.6 0 0 1 2 1.2M8 12h.1M2.6 2l10.8 12" />
  ),
  sun: (
    <path d="M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6M8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9" />
  ),
  moon: <path d="M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8" />,
  lock: <path d="M3.5 7.2h9v6.3h-9zM5.3 7.2V5.1a2.7 2.7 0 0 1 5.4 0v2.1" />,
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof ICONS;

/** An icon beside a word, hidden from screen readers because the word says it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <Strokes className="icon" size={size} width={1.5}>
      {ICONS[name]}
    </Strokes>
  );
}

interface StrokesProps {
  className?: string;
  size: number;
  /** Of a stroke, on a grid of 16. */
  width: number;
  children: ReactNode;
}

/** A drawing beside a word, which says what it means. */
export function Strokes({ className, size, width, children }: StrokesProps) {
  return (
    <svg
      aria-hidden="true"
      className={className}
      fill="none"
      height={size}
      stroke="currentcolor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={width}
      viewBox="0 0 16 16"
      width={size}
    >
      {children}
    </svg>
  );
}
