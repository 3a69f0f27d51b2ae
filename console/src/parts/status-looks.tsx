import type { ReactNode } from 'react';

const TICK = <path d="m5 8.2 2.1 2.1L11 6.3" />;
const CROSS = <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" />;
const BANG = <path d="M8 4.9v3.4m0 2.6v.1" />;
const HANDS = <path d="M8 4.8V8l2 1.5" />;
const DOT = <circle className="fill" cx="8" cy="8" r="2.6" />;
const ROUND = <circle cx="8" cy="8" r="6.2" />;
const TRIANGLE = <path className="shape" d="M8 1.9 14.6 13.6H1.4z" />;
const OCTAGON = <path className="shape" d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" />;

/** The one look of a status: its word, its colour, and a mark on a grid of 16. */
interface Look {
  word: string;
  tone: 'critical' | 'warning' | 'healthy' | 'none' | 'accent';
  mark: ReactNode;
}

/** A mark in a frame; by default in a circle. */
function framed(word: string, tone: Look['tone'], inside: ReactNode, frame: ReactNode = ROUND): Look {
  const mark = (
    <>
      {frame}
      {inside}
    </>
  );
  return { word, tone, mark };
}

/** Statuses of the fleet and of findings, severities, states of keys, tickets and members: one look each. */
export const LOOKS = {
  healthy: framed('Healthy', 'healthy', TICK),
  ok: framed('OK', 'healthy', TICK),
  resolved: framed('Resolved', 'healthy', TICK),
  active: framed('Active', 'healthy', TICK),
  critical: framed('Critical', 'critical', BANG, OCTAGON),
  warning: framed('Warning', 'warning', <path d="M8 6.2v3.2m0 2.1v.1" />, TRIANGLE),
  info: framed('Info', 'accent', <path d="M8 7.4v3.4M8 5v.1" />),
  never_run: {
    word: 'Never run',
    tone: 'none',
    mark: <circle cx="8" cy="8" r="6.2" strokeDasharray="2.4 2.5" />,
  },
  skipped: framed('Skipped', 'none', <path d="M5.2 8h5.6" />),
  error: framed('Error', 'critical', CROSS),
  stale: framed('Stale', 'none', HANDS),
  open: framed('Open', 'accent', DOT),
  new: framed('New', 'accent', DOT),
  acknowledged: framed('Acknowledged', 'none', TICK),
  snoozed: framed('Snoozed', 'none', HANDS),
  silenced: framed('Silenced', 'none', <path d="m3.8 3.8 8.4 8.4" />),
  invited: { word: 'Invited', tone: 'accent', mark: <path d="M1.8 3.8h12.4v8.4H1.8zM2 4.2l6 4.6 6-4.6" /> },
  suspended: framed('Suspended', 'warning', <path d="M6.4 5.7v4.6m3.2-4.6v4.6" />),
  expired: framed('Expired', 'none', HANDS),
  revoked: framed('Revoked', 'none', CROSS),
  replaced: {
    word: 'Replaced',
    tone: 'none',
    mark: <path d="M2.5 6h9.2M9 3.2 11.8 6M13.5 10.2H4.3m2.7 2.8-2.8-2.8" />,
  },
} satisfies Record<string, Look>;

export type Status = keyof typeof LOOKS;
