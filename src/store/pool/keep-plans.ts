import type pg from 'pg';
import { isStale } from '../../platform/unsafe/pg-exchange.ts';

/** A session names no more statements than that: texts that are made for one call must not fill its memory. */
const MOST_KEPT = 200;

/**
 * Lets the session of `client` keep each statement with parameters that it runs, so that a repeated one is parsed once and soon
 * planned once too. Parsing and planning are most of what the short statements of a run cost the store.
 */
export function keepPlans(client: pg.Client): void {
  const names = new Map<string, string>();
  let given = 0;
  const { query } = client;
  const forget = (text: string) => (error: unknown) => {
    if (isStale(error)) names.delete(text);
  };
  client.query = ((text: unknown, values: unknown, ...rest: unknown[]) => {
    if (typeof text !== 'string' || !Array.isArray(values) || (!names.has(text) && names.size >= MOST_KEPT)) {
      return Reflect.apply(query, client, [text, values, ...rest]);
    }
    const name = names.get(text) ?? `kept ${++given}`;
    names.set(text, name);
    const [callback] = rest;
    if (typeof callback === 'function') {
      return Reflect.apply(query, client, [
        { name, text, values },
        (error: unknown, result: unknown) => {
          forget(text)(error);
          callback(error, result);
        },
      ]);
    }
    const result: Promise<unknown> = Reflect.apply(query, client, [{ name, text, values }]);
    result.catch(forget(text));
    return result;
  }) as typeof query;
}
