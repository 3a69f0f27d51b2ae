import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../contract/free-port.ts';
import { embeddedUrl, startService } from '../contract/running-service.ts';
import { needPackages } from './debian.ts';
import { eventually, startProgram } from './program.ts';
import { promtool } from './promtool.ts';
import type { SampleService } from './sample-service.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');

/**
 * Checks the service's metrics and alerts with promtool, then scrapes a service with Prometheus as in
 * docs/operate/monitor.md: each query of the dashboard returns data.
 */
export async function scrapeService(service: SampleService): Promise<string[]> {
  needPackages('prometheus');
  const folder = service.folder('service-metrics');
  copyFileSync(join(DEPLOY, 'prometheus-rules.yaml'), join(folder, 'prometheus-rules.yaml'));
  copyFileSync(join(import.meta.dirname, 'service-rules.yml'), join(folder, 'rules-test.yml'));
  const [metricsPort, prometheusPort] = [await freePort(), await freePort()];
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['prometheus-rules.yaml'],
    scrape_configs: [
      { job_name: 'dbvitals-service', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] },
    ],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
  const environment = { ...embeddedUrl(join(folder, '../data')), METRICS_PORT: `${metricsPort}` };
  const scraped = await startService(environment);
  const prometheus = startProgram(
    '/usr/bin/prometheus',
    [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
    ],
    { cwd: folder },
  );
  try {
    const wrong = [
      ...promtool(folder, ['check', 'config', 'prometheus.yml']),
      ...promtool(folder, ['test', 'rules', 'rules-test.yml']),
    ];
    const origin = `http://127.0.0.1:${prometheusPort}`;
    const scrapes = 'count_over_time(up{job="dbvitals-service"}[30s]) > 1';
    const isScraped = await eventually(async () => (await finds(origin, scrapes)) || undefined, 30);
    if (!isScraped) return [...wrong, `Prometheus scraped nothing: ${prometheus.output().slice(-2_000)}`];
    // Runs a check, so that a counter increases.
    const [account] = await service.command<{ id: number; name: string }[]>('account', 'list');
    const url = 'postgres://watcher@127.0.0.1:1/shop';
    await service.command('connection', 'add', '--account', `${account?.id}`, '--name', 'new', '--url', url);
    const missing = new Set(queries());
    await eventually(async () => {
      const headers = { authorization: `Bearer ${service.key}` };
      await fetch(`${scraped.origin}/api/v1/health/fleet`, { headers });
      for (const query of missing) if (await finds(origin, query)) missing.delete(query);
      return missing.size === 0 || undefined;
    }, 30);
    wrong.push(...[...missing].map((query) => `${query} finds nothing`));
    const figures = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return [...wrong, ...promtool(folder, ['check', 'metrics'], figures)];
  } finally {
    await Promise.all([prometheus.stop(), scraped.stop()]);
  }
}

// Appears only after a minute.
const LATER = /retention_last_round/;

/** The dashboard's queries as Grafana sends them. */
function queries(): string[] {
  const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'grafana-dbvitals-service.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  return panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .filter((query) => !LATER.test(query))
    .map((query) => query.replaceAll('$job', 'dbvitals-service').replaceAll('$__rate_interval', '10s'));
}

/** Whether Prometheus returns a number for a query. */
async function finds(origin: string, query: string): Promise<boolean> {
  const answer = await fetch(`${origin}/api/v1/query?query=${encodeURIComponent(query)}`).catch(() => null);
  if (!answer) return false;
  const { data, error } = (await answer.json()) as {
    data?: { result: { value: [number, string] }[] };
    error?: string;
  };
  if (error !== undefined) throw new Error(`${query}: ${error}`);
  return data?.result.some(({ value }) => value[1] !== 'NaN') ?? false;
}
