/** The page's search parameters: two connections, and whether what is equal is shown too. */
export interface CompareSearch {
  a?: string;
  b?: string;
  show?: 'all';
}

const ID = /^[1-9]\d{0,14}$/;

/** Parses an untrusted URL. */
export function compareSearch({ a = '', b = '', show }: Record<string, string | undefined>): CompareSearch {
  return {
    ...(ID.test(a) && { a }),
    ...(ID.test(b) && { b }),
    ...(show === 'all' && { show }),
  };
}
