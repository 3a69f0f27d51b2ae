import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '../contract/free-port.ts';
import { startProcess } from '../contract/running-service.ts';
import { needPackages } from './debian.ts';
import { prometheusDashboardExpressions } from './grafana.ts';
import { eventually, startProgram } from './program.ts';
import { promtool } from './promtool.ts';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations/prometheus');

interface Series {
  metric: Record<string, string>;
  value: [number, string];
}

/**
 * Checks the files and metrics with promtool, then runs the exporters and Prometheus with the same files: metrics match the
 * API, probes succeed, alerts fire, and each query of Grafana's dashboard returns data.
 */
export async function askWithPrometheus(service: SampleService): Promise<string[]> {
  needPackages('prometheus', 'prometheus-blackbox-exporter');
  const folder = service.folder('prometheus');
  const [prometheusPort, blackboxPort] = [await freePort(), await freePort()];
  const { key } = await service.newKey('prometheus');
  const keyFile = join(folder, 'dbvitals.key');
  writeFileSync(keyFile, key, { mode: 0o600 });
  const byKey = ['exporter', '--url', service.origin, '--key-file', keyFile];
  const exporter = startProcess([...byKey, '--listen', '127.0.0.1:0'], {});
  const [, exporterUrl = ''] = await exporter.says(/ready on (http:\S+)/);
  const measures = startProcess(
    ['exporter', '--account', `${service.accountId}`, '--listen', '127.0.0.1:0'],
    service.environment,
  );
  const [, measuresUrl = ''] = await measures.says(/ready on (http:\S+)/);
  const write = (name: string, replaced: [string, string][]) => {
    const text = readFileSync(join(PAGES, name), 'utf8');
    writeFileSync(
      join(folder, name),
      replaced.reduce((now, [from, to]) => now.replaceAll(from, to), text),
    );
  };
  write('blackbox.yml', [['/etc/prometheus/dbvitals.key', keyFile]]);
  write('dbvitals-rules.yml', []);
  write('prometheus.yml', [
    ['https://dbvitals.example.com', service.origin],
    ['127.0.0.1:9187', new URL(exporterUrl).host],
    ['127.0.0.1:9115', `127.0.0.1:${blackboxPort}`],
    [': 15s', ': 1s'],
  ]);
  copyFileSync(join(import.meta.dirname, 'prometheus-rules.yml'), join(folder, 'rules-test.yml'));
  chmodSync(join(folder, 'prometheus.yml'), 0o600);
  const wrong = [
    ...promtool(folder, ['check', 'config', 'prometheus.yml']),
    ...promtool(folder, ['test', 'rules', 'rules-test.yml']),
  ];
  const programs = [
    startProgram(
      '/usr/bin/prometheus-blackbox-exporter',
      ['--config.file=blackbox.yml', `--web.listen-address=127.0.0.1:${blackboxPort}`],
      { cwd: folder },
    ),
    startProgram(
      '/usr/bin/prometheus',
      [
        '--config.file=prometheus.yml',
        '--storage.tsdb.path=data',
        `--web.listen-address=127.0.0.1:${prometheusPort}`,
      ],
      { cwd: folder },
    ),
  ];
  const origin = `http://127.0.0.1:${prometheusPort}`;
  try {
    let missing = ['Prometheus did not answer'];
    const settled = await eventually(async () => {
      missing = await missingOf(origin, service).catch((error) => [String(error)]);
      return missing.length === 0 ? true : undefined;
    }, 60);
    if (!settled) wrong.push(...missing, ...programs.map((program) => program.output().slice(-2_000)));
    const texts = [];
    for (const url of [exporterUrl, measuresUrl]) {
      const figures = await (await fetch(url)).text();
      wrong.push(...promtool(folder, ['check', 'metrics'], figures));
      texts.push(figures.split('\n').filter((line) => line.startsWith('dbvitals_measure{')));
    }
    const [ofService = [], ofStore = []] = texts.map((lines) => lines.toSorted());
    if (!isDeepStrictEqual(ofService, ofStore)) {
      wrong.push(`${ofService.length} values by key are not the ${ofStore.length} of the store`);
    }
    return wrong;
  } finally {
    await Promise.all([exporter.stop(), measures.stop(), ...programs.map((program) => program.stop())]);
  }
}

async function missingOf(origin: string, service: SampleService): Promise<string[]> {
  const query = async (expression: string): Promise<Series[]> => {
    const answer = await fetch(`${origin}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { data, error } = (await answer.json()) as { data: { result: Series[] }; error?: string };
    if (error) throw new Error(`${expression}: ${error}`);
    return data.result;
  };
  const { data: fleet } = await service.read<{ data: { id: number; score: number | null }[] }>(
    '/api/v1/health/fleet',
  );
  const wrong: string[] = [];
  for (const { id, score } of fleet) {
    const [series] = await query(`dbvitals_connection_score{connection_id="${id}"}`);
    if (series?.value[1] !== (score === null ? undefined : `${score}`)) {
      wrong.push(`Prometheus has ${series?.value[1]} as the score of connection ${id}, the API ${score}`);
    }
  }
  const single: [string, string][] = [
    ['probe_success{job="dbvitals-ready"}', '1'],
    // A database is critical, so the page must not match. The key was correct.
    ['probe_success{job="dbvitals-fleet"}', '0'],
    ['probe_failed_due_to_regex{job="dbvitals-fleet"}', '1'],
    ['probe_http_status_code{job="dbvitals-fleet"}', '200'],
    ['count(ALERTS{alertname="DbvitalsDatabaseCritical",alertstate="firing"})', '1'],
    ['count(ALERTS{alertname="DbvitalsCriticalTickets",alertstate="firing"})', '1'],
    ['count(dbvitals_measure{metric="connections_used_ratio"})', '10'],
    ['dbvitals_measures_left_out', '0'],
    ['count(ALERTS{alertname="DbvitalsNotAnswering"}) or vector(0)', '0'],
  ];
  for (const [expression, expected] of single) {
    const [series] = await query(expression);
    if (series?.value[1] !== expected) wrong.push(`${expression} is ${series?.value[1]}, not ${expected}`);
  }
  for (const expression of prometheusDashboardExpressions()) {
    if ((await query(expression)).length === 0) wrong.push(`Grafana's ${expression} finds nothing`);
  }
  return wrong;
}
