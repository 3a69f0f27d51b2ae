import { Counter, Gauge, type Registry } from 'prom-client';
import { CHANNELS, type Channel } from '../../vocabulary/channels.ts';
import { lastFigures, type WatchedStores, watchedGauges } from './watched-gauge.ts';

const OUTCOMES = ['accepted', 'failed'] as const;
const ENDS = ['accepted', 'given_up'] as const;

/** The figures of notifications in the whole store. */
export interface WatchedNotifications {
  queued: number;
  oldestDueSeconds: number;
  dropped: number;
  destinations: Readonly<Record<string, number>>;
  alerts: Readonly<Record<string, number>>;
  streams: readonly { accountId: number; destinationId: number; entries: number; seconds: number }[];
}

/** Adds the metrics of notifications to the service's. */
export function notificationMetrics(registry: Registry) {
  const registers = [registry];
  const attempts = new Counter({
    name: 'dbvitals_notification_attempts_total',
    help: 'Requests that this service sent to destinations, by channel and outcome: accepted or failed',
    labelNames: ['channel', 'outcome'],
    registers,
  });
  const deliveries = new Counter({
    name: 'dbvitals_notification_deliveries_total',
    help: 'Deliveries that ended in this service, by channel and state: accepted or given_up',
    labelNames: ['channel', 'state'],
    registers,
  });
  startAtZero(attempts, deliveries);
  return {
    attempted(channel: Channel, outcome: (typeof OUTCOMES)[number]) {
      attempts.inc({ channel, outcome });
    },
    ended(channel: Channel, state: (typeof ENDS)[number], count: number) {
      deliveries.inc({ channel, state }, count);
    },
    /** Reports the store's figures. While the store does not answer (`ask` returns null), reports the last ones. */
    watchStores: (stores: WatchedStores<WatchedNotifications>) => watchStores(registry, stores),
  };
}

function watchStores(registry: Registry, stores: WatchedStores<WatchedNotifications>) {
  const gauge = watchedGauges(registry, stores);
  const cellNames = Object.keys(stores()[0]?.labels ?? {});
  const replace = lastFigures(stores);
  const labelled = (
    name: string,
    help: string,
    label: string,
    figures: (of: WatchedNotifications) => Readonly<Record<string, number>>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: [...cellNames, label],
      registers: [registry],
      async collect() {
        await replace(this, (labels, now) => {
          for (const [value, figure] of Object.entries(figures(now)))
            this.set({ ...labels, [label]: value }, figure);
        });
      },
    });
  gauge(
    'dbvitals_notification_queued',
    'Deliveries in the whole store that have not ended',
    ({ queued }) => queued,
  );
  gauge(
    'dbvitals_notification_oldest_due_seconds',
    'How long the delivery that is due longest has been waiting for its attempt; disabled and paused destinations do not count',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  );
  labelled(
    'dbvitals_notification_destinations',
    'Destinations by state: enabled, failing (enabled, but the last attempt failed), disabled or paused',
    'state',
    ({ destinations }) => destinations,
  );
  new Counter({
    name: 'dbvitals_notification_dropped_total',
    help: 'Completed health checks that were not sent because 10,000 deliveries were queued for the destination',
    labelNames: cellNames,
    registers: [registry],
    async collect() {
      await replace(this, (labels, { dropped }) => this.inc(labels, dropped));
    },
  });
  watchStreams(registry, stores);
  labelled('dbvitals_alerts_open', 'Open alerts by severity', 'severity', ({ alerts }) => alerts);
}

/** Reports how far each log stream is behind, a series each. */
function watchStreams(registry: Registry, stores: WatchedStores<WatchedNotifications>) {
  const labelNames = [...Object.keys(stores()[0]?.labels ?? {}), 'account', 'destination'];
  const replace = lastFigures(stores);
  const units = {
    entries: 'Entries that an enabled log stream has not delivered yet, by account and destination',
    seconds: 'The age of the oldest entry that an enabled log stream has not delivered yet; 0 = none',
  } as const;
  for (const unit of ['entries', 'seconds'] as const)
    new Gauge({
      name: `dbvitals_log_stream_behind_${unit}`,
      help: units[unit],
      labelNames,
      registers: [registry],
      async collect() {
        await replace(this, (labels, { streams }) => {
          for (const { accountId: account, destinationId: destination, [unit]: lag } of streams)
            this.set({ ...labels, account, destination }, lag);
        });
      },
    });
}

/** Reports 0 from the start, so that the first one is an increase. */
function startAtZero(attempts: Counter, deliveries: Counter) {
  for (const channel of CHANNELS) {
    for (const outcome of OUTCOMES) attempts.inc({ channel, outcome }, 0);
    for (const state of ENDS) deliveries.inc({ channel, state }, 0);
  }
}
