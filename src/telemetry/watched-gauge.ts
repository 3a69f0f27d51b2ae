import { Gauge, type Registry } from 'prom-client';

/** The cell that a figure is of, if there are several. */
export type CellLabel = { readonly cell?: string };

/** A store whose figures are reported; `ask` gives null while it does not answer. */
export interface Watched<Figures> {
  readonly labels: CellLabel;
  readonly ask: () => Promise<Figures | null>;
}

/** Adds gauges of the figures of each store. While a store gives null, they report its last ones. */
export function watchedGauges<Figures>(registry: Registry, stores: readonly Watched<Figures>[]) {
  return (name: string, help: string, figure: (of: Figures) => number) =>
    new Gauge({
      name,
      help,
      labelNames: Object.keys(stores[0]?.labels ?? {}),
      registers: [registry],
      async collect() {
        await Promise.all(
          stores.map(async ({ labels, ask }) => {
            const now = await ask();
            if (now) this.set(labels, figure(now));
          }),
        );
      },
    });
}
