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

/** Reads one setting with `parse`; `absent` if it is unset. An error that `parse` throws becomes a problem. */
type Setting = <T, A>(name: string, absent: A, parse: (text: string) => T) => T | A;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
const TIMEOUTS = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];
const PROTOCOLS = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];

/**
 * The settings of traces, named as in OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/): null unless an endpoint or the exporter is set.
 */
export function readTraceSettings(setting: Setting): TraceSettings | null {
  if (setting('OTEL_SDK_DISABLED', '', (text) => text.toLowerCase()) === 'true') return null;
  const exporter = setting('OTEL_TRACES_EXPORTER', null, parseExporter);
  if (exporter === 'none') return null;
  const endpoints = ENDPOINTS.map((name) => setting(name, null, (text) => parseEndpoint(name, text)));
  if (exporter === null && endpoints.every((endpoint) => endpoint === null)) return null;
  for (const name of PROTOCOLS) setting(name, null, (text) => parseProtocol(name, text));
  const timeouts = TIMEOUTS.map((name) => setting(name, null, (text) => parseTimeout(name, text)));
  return Object.freeze({
    timeoutMs: timeouts.find((ms) => ms !== null) ?? TIMEOUT_MS,
    sampler: setting('OTEL_TRACES_SAMPLER', 'parentbased_always_on', parseSampler),
    ratio: setting('OTEL_TRACES_SAMPLER_ARG', 1, parseRatio),
  });
}

function parseExporter(text: string): 'otlp' | 'none' {
  if (text === 'otlp' || text === 'none') return text;
  throw new Error('OTEL_TRACES_EXPORTER must be otlp or none.');
}

function parseEndpoint(name: string, text: string): string {
  const { protocol, username, password } = URL.canParse(text) ? new URL(text) : { protocol: '' };
  if (/^https?:$/.test(protocol) && !username && !password) return text;
  throw new Error(
    `${name} must be a URL such as http://collector.example.com:4318; put credentials into OTEL_EXPORTER_OTLP_HEADERS.`,
  );
}

function parseProtocol(name: string, text: string): string {
  if (text === 'http/protobuf') return text;
  throw new Error(`${name} must be http/protobuf: dbvitals supports no other protocol.`);
}

// The standard's is 10 s. A stopping service would wait that long for its last export, longer than it may take to stop.
const TIMEOUT_MS = 2_000;

function parseTimeout(name: string, text: string): number {
  if (/^[1-9][0-9]{0,4}$/.test(text)) return Number(text);
  throw new Error(`${name} must be milliseconds, 1 to 99999.`);
}

function parseSampler(text: string): (typeof SAMPLERS)[number] {
  const sampler = SAMPLERS.find((known) => known === text);
  if (sampler) return sampler;
  throw new Error(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}.`);
}

function parseRatio(text: string): number {
  if (/^(0(\.[0-9]+)?|1(\.0+)?)$/.test(text)) return Number(text);
  throw new Error('OTEL_TRACES_SAMPLER_ARG must be a share of all traces, 0 to 1.');
}
