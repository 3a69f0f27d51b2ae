/** The page's search parameters. */
export interface CollectorsSearch {
  /** The id of a collector to show alone. */
  collector?: string;
}

/** Parses an untrusted URL. */
export function collectorsSearch({ collector }: Record<string, string>): CollectorsSearch {
  return collector && /^[1-9][0-9]{0,15}$/.test(collector) ? { collector } : {};
}
