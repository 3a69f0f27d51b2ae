import { expect, test } from 'vitest';
import { settingProblems } from '../../../test/support/setting-problems.ts';
import { readConfig, readMetrics } from '../../config/config.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

test('traces are sent only if an endpoint or the exporter is set', () => {
  const all = { sampler: 'parentbased_always_on', ratio: 1, timeoutMs: 2_000 };
  expect(readConfig({}).traces).toBeNull();
  expect(readConfig({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }).traces).toBeNull();
  expect(readConfig(ENDPOINT).traces).toEqual(all);
  expect(readConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x.example/v1/traces' }).traces).toEqual(
    all,
  );
  expect(readConfig({ OTEL_TRACES_EXPORTER: 'otlp' }).traces).toEqual(all);
  expect(readConfig({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }).traces).toBeNull();
  expect(readConfig({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }).traces).toBeNull();
  const tenth = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' };
  expect(readConfig({ ...ENDPOINT, ...tenth, OTEL_EXPORTER_OTLP_TIMEOUT: '500' }).traces).toEqual({
    sampler: 'traceidratio',
    ratio: 0.1,
    timeoutMs: 500,
  });
});

test('every mistake is a sentence that does not repeat the given value', () => {
  const problems = settingProblems({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:hunter2@collector:4318',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'hunter2:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'hunter2',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TIMEOUT: 'hunter2',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_TRACES_SAMPLER: 'hunter2',
    OTEL_TRACES_SAMPLER_ARG: '2',
  });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_EXPORTER_OTLP_TIMEOUT',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
  ]);
  expect(problems.join()).not.toContain('hunter2');
  expect(settingProblems({ OTEL_TRACES_EXPORTER: 'zipkin' })).toEqual([
    'OTEL_TRACES_EXPORTER must be otlp or none.',
  ]);
});

test('metrics are sent only if an endpoint or the exporter is set, and a service ignores their settings', () => {
  const usual = { intervalMs: 60_000, timeoutMs: 10_000 };
  expect(readMetrics({})).toBeNull();
  expect(readMetrics(ENDPOINT)).toEqual(usual);
  expect(readMetrics({ OTEL_METRICS_EXPORTER: 'otlp' })).toEqual(usual);
  expect(readMetrics({ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' })).toBeNull();
  expect(readMetrics({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  expect(
    readMetrics({ ...ENDPOINT, OTEL_METRIC_EXPORT_INTERVAL: '5000', OTEL_EXPORTER_OTLP_TIMEOUT: '9000' }),
  ).toEqual({ intervalMs: 5_000, timeoutMs: 5_000 });
  const foreign = { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc' };
  expect(readConfig(foreign).traces).toBeNull();
  expect(() => readMetrics({ ...ENDPOINT, ...foreign })).toThrow(
    /OTEL_METRICS_EXPORTER must be otlp or none/,
  );
});
