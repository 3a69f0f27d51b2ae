import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations/grafana');

interface InfinityTarget {
  url: string;
  url_options: { params: { key: string; value: string }[] };
  root_selector: string;
  columns: { selector: string }[];
  pagination_param_page_field_name?: string;
  pagination_param_size_field_name?: string;
}

function targetsOf<Target>(name: string): Target[] {
  const { panels } = JSON.parse(readFileSync(join(PAGES, name), 'utf8')) as {
    panels: { targets: Target[] }[];
  };
  return panels.flatMap((panel) => panel.targets);
}

/** The queries of the dashboards over Prometheus, with all connections and one metric as the variables. */
export function prometheusDashboardExpressions(): string[] {
  return ['prometheus-dashboard.json', 'measures-dashboard.json'].flatMap((name) =>
    targetsOf<{ expr: string }>(name).map(({ expr }) =>
      expr.replaceAll('$connection', '.*').replaceAll('$metric', 'connections_used_ratio'),
    ),
  );
}

/** Sends each query of the Infinity dashboard to the API and checks its columns, without running Grafana. */
export async function askAsInfinity(service: SampleService): Promise<string[]> {
  const targets = targetsOf<InfinityTarget>('infinity-dashboard.json');
  const wrong = targets.length === 0 ? ['The dashboard asks nothing'] : [];
  for (const target of targets) {
    const url = new URL(target.url.replace(/\$\{url\}/, service.origin));
    for (const { key, value } of target.url_options.params) url.searchParams.set(key, filled(value));
    const { pagination_param_page_field_name: page, pagination_param_size_field_name: size } = target;
    if (page !== undefined && size !== undefined) {
      url.searchParams.set(page, '1');
      url.searchParams.set(size, '100');
    }
    const answer = await service.read<Record<string, unknown>>(url.pathname + url.search);
    const rows = [answer[target.root_selector]].flat();
    if (rows.length === 0) wrong.push(`${url.pathname} gives no ${target.root_selector}`);
    for (const { selector } of target.columns) {
      if (!rows.some((row) => select(row, selector) !== undefined)) {
        wrong.push(`${url.pathname} has no ${selector} in ${target.root_selector}`);
      }
    }
  }
  return wrong;
}

/** A query's value with the last day as Grafana's time range. */
function filled(value: string): string {
  const iso = (back: number) => new Date(Date.now() - back).toISOString();
  return value.replace(/\$\{__from:date:iso\}/, iso(86_400_000)).replace(/\$\{__to:date:iso\}/, iso(0));
}

function select(row: unknown, selector: string): unknown {
  return selector
    .split('.')
    .reduce<unknown>(
      (now, name) => (typeof now === 'object' && now ? Reflect.get(now, name) : undefined),
      row,
    );
}
