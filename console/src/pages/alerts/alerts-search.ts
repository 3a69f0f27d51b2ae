import { idIn, oneOf, present } from '../../parts/search-params.ts';

/** The page's search parameters: its view, by default open alerts, and the open alert. */
export type AlertsSearch = ReturnType<typeof alertsSearch>;

const VIEWS = ['resolved', 'rules', 'maintenance'] as const;

export type AlertsView = (typeof VIEWS)[number];

/** Parses an untrusted URL. */
export function alertsSearch(given: Record<string, string>) {
  return present({ view: oneOf(VIEWS, given['view']), alert: idIn(given['alert']) });
}
