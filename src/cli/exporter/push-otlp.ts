import { type HrTime, ValueType } from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import { MetricsExporterMetricsHelper, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type GaugeMetricData,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { version } from '../../platform/package-root.ts';
import type { MetricSettings } from '../../platform/telemetry/metric-settings.ts';
import { DB_SYSTEMS, otlpName } from './otlp-names.ts';
import type { LatestValues } from './write-measures.ts';

/** A collector takes 4 MB at once by default; a value takes about 250 bytes. */
const MOST_AT_ONCE = 5_000;

type Point = GaugeMetricData['dataPoints'][number];

/**
 * Sends the latest values to the collector that the standard's variables name, at each interval. Calls `say` with what fails.
 * Returns a function that sends them once more and stops.
 */
export function pushOtlp(
  latest: () => Promise<LatestValues>,
  { intervalMs, timeoutMs }: MetricSettings,
  say: (line: string) => void,
): () => Promise<void> {
  const report = reportOnce(say);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'dbvitals', 'service.version': version }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
  const collect = async (): Promise<CollectionResult> => {
    try {
      const metrics = toMetrics(await latest(), Date.now());
      const scopeMetrics = [{ scope: { name: 'dbvitals', version }, metrics }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    } catch (error) {
      report(error);
      return { resourceMetrics: { resource, scopeMetrics: [] }, errors: [] };
    }
  };
  const reader = new PeriodicExportingMetricReader({
    exporter: createExporter(timeoutMs, report),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
    maxExportBatchSize: MOST_AT_ONCE,
    metricProducers: [{ collect }],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}

/** Returns what says why values were not sent, once for each reason; null = they were. */
function reportOnce(say: (line: string) => void): (error: unknown) => void {
  let failing = '';
  return (error) => {
    const [reason = ''] = error instanceof Error ? error.message.split('\n') : [];
    if (reason !== '' && reason !== failing) say(`The collector got no values: ${reason}`);
    failing = reason;
  };
}

/** What the family's own package of this exporter does; that has no release of the version of the others. */
function createExporter(timeoutMillis: number, report: (error: unknown) => void): PushMetricExporter {
  const type = { 'Content-Type': 'application/x-protobuf' };
  const exporter = new OTLPExporterBase(
    createOtlpHttpExportDelegate(
      convertLegacyHttpOptions({ timeoutMillis }, 'METRICS', 'v1/metrics', type),
      ProtobufMetricsSerializer,
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    ),
  );
  return {
    export(metrics, done) {
      exporter.export(metrics, (result) => {
        report(
          result.code === ExportResultCode.SUCCESS ? null : (result.error ?? new Error('it refused them')),
        );
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The values as gauges. Their time is that of the export, as a collector expects it of what it reads; when they were measured is a metric. */
export function toMetrics({ connections, values }: LatestValues, nowMs: number): GaugeMetricData[] {
  const now: HrTime = [Math.floor(nowMs / 1_000), (nowMs % 1_000) * 1_000_000];
  const byId = new Map(connections.map((connection) => [connection.connection_id, connection]));
  const metrics = new Map<string, { unit: string; points: Point[] }>();
  const add = (name: string, unit: string, point: Pick<Point, 'attributes' | 'value'>) => {
    const metric = metrics.get(name) ?? { unit, points: [] };
    metrics.set(name, metric);
    metric.points.push({ startTime: now, endTime: now, ...point });
  };
  const place = (id: number) => {
    const { name, engine } = byId.get(id) ?? { name: '', engine: 'postgres' as const };
    return {
      'db.system.name': DB_SYSTEMS[engine],
      'dbvitals.connection.id': id,
      'dbvitals.connection.name': name,
    };
  };
  for (const measure of values) {
    const { connection_id: id, check_id: check, database, object, value } = measure;
    const { name, unit, attributes } = otlpName(measure, byId.get(id)?.engine ?? 'postgres');
    add(name, unit, {
      value,
      attributes: {
        ...place(id),
        ...attributes,
        ...(check !== '' && { 'dbvitals.check.id': check }),
        ...(database !== '' && { 'db.namespace': database }),
        ...(object !== null && { 'dbvitals.object': object }),
      },
    });
  }
  for (const { connection_id, measured_at } of connections) {
    add('dbvitals.measured_time', 's', { value: measured_at, attributes: place(connection_id) });
  }
  return [...metrics].map(([name, { unit, points }]) => ({
    descriptor: { name, unit, description: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE,
    dataPoints: points,
  }));
}
