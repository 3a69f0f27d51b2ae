import {
  isDisabled,
  parseEndpoint,
  parseMilliseconds,
  parseOtlpOrNone,
  parseProtocol,
  type Setting,
} from './otlp-settings.ts';

/** When metrics are sent, from the standard's variables. The exporter itself reads where and how (`OTEL_EXPORTER_OTLP_*`). */
export interface MetricSettings {
  /** From one export to the next, in milliseconds. */
  readonly intervalMs: number;
  /** How long an export may take, in milliseconds: at most the interval. */
  readonly timeoutMs: number;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const TIMEOUTS = ['OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

// The standard's defaults.
const INTERVAL_MS = 60_000;
const TIMEOUT_MS = 10_000;

/**
 * The settings of metrics, named as in OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/): null unless an endpoint or the exporter is set.
 */
export function readMetricSettings(setting: Setting): MetricSettings | null {
  if (isDisabled(setting)) return null;
  const exporter = setting('OTEL_METRICS_EXPORTER', null, (text) =>
    parseOtlpOrNone('OTEL_METRICS_EXPORTER', text),
  );
  if (exporter === 'none') return null;
  const endpoints = ENDPOINTS.map((name) => setting(name, null, (text) => parseEndpoint(name, text)));
  if (exporter === null && endpoints.every((endpoint) => endpoint === null)) return null;
  for (const name of PROTOCOLS) setting(name, null, (text) => parseProtocol(name, text));
  const milliseconds = (name: string) => setting(name, null, (text) => parseMilliseconds(name, text));
  const intervalMs = milliseconds('OTEL_METRIC_EXPORT_INTERVAL') ?? INTERVAL_MS;
  const timeouts = [...TIMEOUTS, 'OTEL_METRIC_EXPORT_TIMEOUT'].map(milliseconds);
  const timeoutMs = Math.min(timeouts.find((ms) => ms !== null) ?? TIMEOUT_MS, intervalMs);
  return Object.freeze({ intervalMs, timeoutMs });
}
