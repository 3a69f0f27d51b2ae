import type { CallOptions } from './client.ts';
import type { List } from './list.ts';
import type * as records from './records.ts';

/** The calls that read measured values, changes, queries, episodes, alerts and seals. */
export interface NumbersClient {
  /** The latest value of each series of a connection. */
  measures(connectionId: number, query?: records.MeasuresQuery, options?: CallOptions): List<records.Measure>;
  /** The history of a metric of a connection, at most 2,000 points. */
  measureHistory(
    connectionId: number,
    query: records.MeasureHistoryQuery,
    options?: CallOptions,
  ): Promise<records.MeasureHistory>;
  /** The latest values of one metric on all connections. */
  fleetMeasures(
    query: records.FleetMeasuresQuery,
    options?: CallOptions,
  ): List<records.FleetMeasure, records.KeysetMeta>;
  /** What changed on a connection, latest first. */
  changes(
    connectionId: number,
    query?: records.ChangesQuery,
    options?: CallOptions,
  ): List<records.Change, records.KeysetMeta>;
  /** What changed on all connections, latest first. */
  fleetChanges(
    query?: records.FleetChangesQuery,
    options?: CallOptions,
  ): List<records.FleetChange, records.KeysetMeta>;
  /** The queries of a connection, most time first. */
  queries(connectionId: number, query?: records.QueriesQuery, options?: CallOptions): List<records.Query>;
  /** When sessions of a connection blocked others, latest first. */
  episodes(connectionId: number, query?: records.EpisodesQuery, options?: CallOptions): List<records.Episode>;
  /** Alerts, the last triggered first. */
  alerts(query?: records.AlertsQuery, options?: CallOptions): List<records.Alert, records.KeysetMeta>;
  /** The seals of the activity log, first to last. */
  seals(query?: records.SealsQuery, options?: CallOptions): List<records.Seal>;
}
