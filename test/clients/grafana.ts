import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations/grafana');

interface InfinityTarget {
  url: string;
  url_options: { params: { key: string; value: string }[] };
  root_selector: string;
  columns: { selector: string }[];
  pagination_mode?: 'page' | 'cursor';
  pagination_max_pages?: number;
  pagination_param_page_field_name?: string;
  pagination_param_cursor_field_name?: string;
  pagination_param_cursor_extraction_path?: string;
  pagination_param_size_field_name?: string;
  pagination_param_size_value?: number;
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

/** Sends each query of the Infinity dashboards to the API, with all their pages, and checks its columns, without running Grafana. */
export async function askAsInfinity(service: SampleService): Promise<string[]> {
  const { data } = await service.read<{ data: { id: number }[] }>('/api/v1/health/connections');
  const variables = {
    url: service.origin,
    metric: 'cache_hit_ratio',
    connection: String(data[0]?.id),
    // The last month is Grafana's time range.
    '__from:date:iso': new Date(Date.now() - 30 * 86_400_000).toISOString(),
    '__to:date:iso': new Date().toISOString(),
  };
  const fill = (text: string) =>
    Object.entries(variables).reduce((now, [name, value]) => now.replaceAll(`\${${name}}`, value), text);
  const wrong: string[] = [];
  for (const name of ['infinity-dashboard.json', 'infinity-numbers-dashboard.json']) {
    const targets = targetsOf<InfinityTarget>(name);
    if (targets.length === 0) wrong.push(`${name} asks nothing`);
    for (const target of targets) {
      const url = new URL(fill(target.url));
      for (const { key, value } of target.url_options.params) url.searchParams.set(key, fill(value));
      const rows = await readPages(service, url, target);
      if (rows.length === 0) wrong.push(`${url.pathname} gives no ${target.root_selector}`);
      for (const { selector } of target.columns) {
        if (!rows.some((row) => select(row, selector) !== undefined)) {
          wrong.push(`${url.pathname} has no ${selector} in ${target.root_selector}`);
        }
      }
    }
  }
  return wrong;
}

/** The rows of a query's pages, to as many pages as it asks for. */
async function readPages(service: SampleService, url: URL, target: InfinityTarget): Promise<unknown[]> {
  const { pagination_mode: mode, pagination_max_pages: most = 1 } = target;
  const name =
    mode === 'cursor' ? target.pagination_param_cursor_field_name : target.pagination_param_page_field_name;
  const size = target.pagination_param_size_field_name;
  if (size !== undefined) url.searchParams.set(size, String(target.pagination_param_size_value));
  const rows: unknown[] = [];
  for (let page = 1, place: unknown = null; page <= most; page += 1) {
    if (mode === 'page' && name !== undefined) url.searchParams.set(name, String(page));
    if (mode === 'cursor' && name !== undefined && page > 1) url.searchParams.set(name, String(place));
    const answer = await service.read<Record<string, unknown>>(url.pathname + url.search);
    rows.push(...[answer[target.root_selector]].flat());
    place = select(answer, target.pagination_param_cursor_extraction_path ?? '');
    if (mode === 'cursor' && place === null) break;
  }
  return rows;
}

function select(row: unknown, selector: string): unknown {
  return selector
    .split('.')
    .reduce<unknown>(
      (now, name) => (typeof now === 'object' && now ? Reflect.get(now, name) : undefined),
      row,
    );
}
