/** The page's search parameters: its view and the open alert. */
export interface AlertsSearch {
  /** Default: open alerts. */
  view?: AlertsView | undefined;
  alert?: string | undefined;
}

const VIEWS = ['resolved', 'rules', 'maintenance'] as const;

export type AlertsView = (typeof VIEWS)[number];

/** Parses an untrusted URL. */
export function alertsSearch(given: Record<string, string>): AlertsSearch {
  const { alert } = given;
  const view = VIEWS.find((word) => word === given['view']);
  return {
    ...(view && { view }),
    ...(alert && /^[1-9]\d{0,15}$/.test(alert) && { alert }),
  };
}
