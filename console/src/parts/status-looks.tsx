import type { ReactNode } from 'react';

/** Statuses of the fleet and of findings, severities, states of keys, tickets and members: one look each. */
export type Status =
  | 'healthy'
  | 'ok'
  | 'warning'
  | 'critical'
  | 'info'
  | 'never_run'
  | 'skipped'
  | 'error'
  | 'stale'
  | 'open'
  | 'new'
  | 'acknowledged'
  | 'snoozed'
  | 'silenced'
  | 'resolved'
  | 'active'
  | 'invited'
  | 'suspended'
  | 'expired'
  | 'revoked'
  | 'replaced';

const TICK = <path d="m5 8.2 2.1 2.1L11 6.3" />;
const CROSS = <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" />;
const BANG = <path d="M8 4.9v3.4m0 2.6v.1" />;
const ROUND = <circle cx="8" cy="8" r="6.2" />;
const TRIANGLE = <path className="shape" d="M8 1.9 14.6 13.6H1.4z" />;
const OCTAGON = <path className="shape" d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" />;

/** The one look of a status: its word, its colour, and a mark on a grid of 16. */
export interface Look {
  word: string;
  tone: 'critical' | 'warning' | 'healthy' | 'none' | 'accent';
  mark: ReactNode;
}

const good = (word: string): Look => ({
  word,
  tone: 'healthy',
  mark: (
    <>
      {ROUND}
      {TICK}
    </>
  ),
});
const ended = (word: string): Look => ({
  word,
  tone: 'none',
  mark: (
    <>
      {ROUND}
      {CROSS}
    </>
  ),
});

export const LOOKS: Record<Status, Look> = {
  healthy: good('Healthy'),
  ok: good('OK'),
  resolved: good('Resolved'),
  active: good('Active'),
  critical: {
    word: 'Critical',
    tone: 'critical',
    mark: (
      <>
        {OCTAGON}
        {BANG}
      </>
    ),
  },
  warning: {
    word: 'Warning',
    tone: 'warning',
    mark: (
      <>
        {TRIANGLE}
        <path d="M8 6.2v3.2m0 2.1v.1" />
      </>
    ),
  },
  info: {
    word: 'Info',
    tone: 'accent',
    mark: (
      <>
        {ROUND}
        <path d="M8 7.4v3.4M8 5v.1" />
      </>
    ),
  },
  never_run: {
    word: 'Never run',
    tone: 'none',
    mark: <circle cx="8" cy="8" r="6.2" strokeDasharray="2.4 2.5" />,
  },
  skipped: {
    word: 'Skipped',
    tone: 'none',
    mark: (
      <>
        {ROUND}
        <path d="M5.2 8h5.6" />
      </>
    ),
  },
  error: {
    word: 'Error',
    tone: 'critical',
    mark: (
      <>
        {ROUND}
        {CROSS}
      </>
    ),
  },
  stale: {
    word: 'Stale',
    tone: 'none',
    mark: (
      <>
        {ROUND}
        <path d="M8 4.8V8l2 1.5" />
      </>
    ),
  },
  open: {
    word: 'Open',
    tone: 'accent',
    mark: (
      <>
        {ROUND}
        <circle className="fill" cx="8" cy="8" r="2.6" />
      </>
    ),
  },
  new: {
    word: 'New',
    tone: 'accent',
    mark: (
      <>
        {ROUND}
        <circle className="fill" cx="8" cy="8" r="2.6" />
      </>
    ),
  },
  acknowledged: {
    word: 'Acknowledged',
    tone: 'none',
    mark: (
      <>
        {ROUND}
        {TICK}
      </>
    ),
  },
  snoozed: {
    word: 'Snoozed',
    tone: 'none',
    mark: (
      <>
        {ROUND}
        <path d="M8 4.8V8l2 1.5" />
      </>
    ),
  },
  silenced: {
    word: 'Silenced',
    tone: 'none',
    mark: (
      <>
        {ROUND}
        <path d="m3.8 3.8 8.4 8.4" />
      </>
    ),
  },
  invited: { word: 'Invited', tone: 'accent', mark: <path d="M1.8 3.8h12.4v8.4H1.8zM2 4.2l6 4.6 6-4.6" /> },
  suspended: {
    word: 'Suspended',
    tone: 'warning',
    mark: (
      <>
        {ROUND}
        <path d="M6.4 5.7v4.6m3.2-4.6v4.6" />
      </>
    ),
  },
  expired: {
    word: 'Expired',
    tone: 'none',
    mark: (
      <>
        {ROUND}
        <path d="M8 4.8V8l2 1.5" />
      </>
    ),
  },
  revoked: ended('Revoked'),
  replaced: {
    word: 'Replaced',
    tone: 'none',
    mark: <path d="M2.5 6h9.2M9 3.2 11.8 6M13.5 10.2H4.3m2.7 2.8-2.8-2.8" />,
  },
};
