import { Gauge, type Registry } from 'prom-client';

/** Adds gauges of figures that `ask` gives. While it gives null, they report the last ones. */
export function watchedGauges<Figures>(registry: Registry, ask: () => Promise<Figures | null>) {
  return (name: string, help: string, figure: (of: Figures) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const now = await ask();
        if (now) this.set(figure(now));
      },
    });
}
