import { type Counter, Gauge, type Registry } from 'prom-client';

/** The cell that a figure is of, if there are several. */
export type CellLabel = { readonly cell?: string };

/** A store whose figures are reported; `ask` gives null while it does not answer. */
export interface Watched<Figures> {
  readonly labels: CellLabel;
  readonly ask: () => Promise<Figures | null>;
}

/** The stores that are watched now. */
export type WatchedStores<Figures> = () => readonly Watched<Figures>[];

/**
 * Returns what replaces a metric's values by those of each store: `report` is called with its figures, or with its last ones
 * while it gives null. Nothing is reported of a store that is no longer watched.
 */
export function lastFigures<Figures>(stores: WatchedStores<Figures>) {
  const last = new WeakMap<Watched<Figures>, Figures>();
  return async (
    metric: Pick<Gauge | Counter, 'reset'>,
    report: (labels: CellLabel, figures: Figures) => void,
  ): Promise<void> => {
    const watched = stores();
    await Promise.all(
      watched.map(async (store) => {
        const now = await store.ask();
        if (now) last.set(store, now);
      }),
    );
    metric.reset();
    for (const store of watched) {
      const figures = last.get(store);
      if (figures) report(store.labels, figures);
    }
  };
}

/** Adds gauges of the figures of each store. While a store gives null, they report its last ones. */
export function watchedGauges<Figures>(registry: Registry, stores: WatchedStores<Figures>) {
  const labelNames = Object.keys(stores()[0]?.labels ?? {});
  const replace = lastFigures(stores);
  return (name: string, help: string, figure: (of: Figures) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        await replace(this, (labels, figures) => this.set(labels, figure(figures)));
      },
    });
}
