import type { ReactNode } from 'react';
import type { Channel } from '../../../../src/vocabulary/channels.ts';
import { Strokes } from '../../parts/icons.tsx';

const LOG = <path d="M3 2.5h7l3 3v8H3zM10 2.5v3h3M5.3 8h5.4M5.3 10.5h5.4" />;

// Drawn for this console on a 16-pixel grid with strokes of 1.5. They are not the vendors' logos.
const ICONS: Record<Channel, ReactNode> = {
  slack: <path d="M6.3 2.5 4.7 13.5M11.3 2.5 9.7 13.5M2.8 6h11M2.2 10h11" />,
  teams: <path d="M2.5 3.5h7v8h-7zM4.4 6h3.2M6 6v3.5M11.5 5.5h2v4a2.5 2.5 0 0 1-2 2.4M11.6 3.4h.1" />,
  mattermost: <path d="M2.5 3.5h11v7.2H7.6L4.5 13.4v-2.7h-2zM5.2 6h5.6M5.2 8.2h3.6" />,
  discord: (
    <path d="M5.2 3.6 6 4.7h4l.8-1.1 2.2 1 1 6.4-2.9 1.5-1-1.4H5.9l-1 1.4L2 11l1-6.4zM6.2 8.2h.1m3.4 0h.1" />
  ),
  pagerduty: <path d="M2.5 4h11v8h-11zM4.8 6.4h6.4v2H4.8zM4.9 10.4H5m2 0h.1" />,
  email: <path d="M1.8 3.8h12.4v8.4H1.8zM2 4.2l6 4.6 6-4.6" />,
  webhook: (
    <path d="M7.9 5.2 5.3 10M8 5.3a1.6 1.6 0 1 0-.1 0M4.6 13a1.6 1.6 0 1 0 0-3.1 1.6 1.6 0 0 0 0 3.1m1.6-1.5h4.2m1 1.5a1.6 1.6 0 1 0 0-3.1 1.6 1.6 0 0 0 0 3.1M8.9 4.9l2.3 5" />
  ),
  alertmanager: <path d="M8 1.8 14 4v4c0 3.2-2.5 5.3-6 6.2-3.5-.9-6-3-6-6.2V4zM8 5v3.4m0 2.3v.1" />,
  heartbeat: <path d="M1.8 8.3h3L6.5 4.3l3 7.5 1.7-3.5h3" />,
  log_http: LOG,
  splunk_hec: LOG,
  elastic: LOG,
  sentinel: LOG,
  otlp_logs: LOG,
  syslog: LOG,
  s3: LOG,
};

/** A channel's icon; its name stands beside it. */
export function ChannelIcon({ channel }: { channel: Channel }) {
  return (
    <span aria-hidden="true" className="channel-icon">
      <Strokes size={20} width={1.4}>
        {ICONS[channel]}
      </Strokes>
    </span>
  );
}
