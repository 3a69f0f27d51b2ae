import {
  isDisabled,
  parseEndpoint,
  parseMilliseconds,
  parseOtlpOrNone,
  parseProtocol,
  type Setting,
} from './otlp-settings.ts';

/** Which traces are sent, from the standard's variables. The exporter itself reads where and how (`OTEL_EXPORTER_OTLP_*`). */
export interface TraceSettings {
  readonly sampler: (typeof SAMPLERS)[number];
  /** The share of traces that a ratio sampler keeps, 0 to 1. */
  readonly ratio: number;
  /** How long an export is retried, in milliseconds. */
  readonly timeoutMs: number;
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const TIMEOUTS = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * The settings of traces, named as in OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/): null unless an endpoint or the exporter is set.
 */
export function readTraceSettings(setting: Setting): TraceSettings | null {
  if (isDisabled(setting)) return null;
  const exporter = setting('OTEL_TRACES_EXPORTER', null, (text) =>
    parseOtlpOrNone('OTEL_TRACES_EXPORTER', text),
  );
  if (exporter === 'none') return null;
  const endpoints = ENDPOINTS.map((name) => setting(name, null, (text) => parseEndpoint(name, text)));
  if (exporter === null && endpoints.every((endpoint) => endpoint === null)) return null;
  for (const name of PROTOCOLS) setting(name, null, (text) => parseProtocol(name, text));
  const timeouts = TIMEOUTS.map((name) => setting(name, null, (text) => parseMilliseconds(name, text)));
  return Object.freeze({
    timeoutMs: timeouts.find((ms) => ms !== null) ?? TIMEOUT_MS,
    sampler: setting('OTEL_TRACES_SAMPLER', 'parentbased_always_on', parseSampler),
    ratio: setting('OTEL_TRACES_SAMPLER_ARG', 1, parseRatio),
  });
}

// The standard's is 10 s. A stopping service would wait that long for its last export, longer than it may take to stop.
const TIMEOUT_MS = 2_000;

function parseSampler(text: string): (typeof SAMPLERS)[number] {
  const sampler = SAMPLERS.find((known) => known === text);
  if (sampler) return sampler;
  throw new Error(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}.`);
}

function parseRatio(text: string): number {
  if (/^(0(\.[0-9]+)?|1(\.0+)?)$/.test(text)) return Number(text);
  throw new Error('OTEL_TRACES_SAMPLER_ARG must be a share of all traces, 0 to 1.');
}
