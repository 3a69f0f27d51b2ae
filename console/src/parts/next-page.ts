// The path of a page, which no browser reads as an address on another host. The server checks the same pattern
// (src/console-api/sign-in/single-sign-on.ts).
const PAGE = /^(?:\/[\w-]+)+\/?(?:[?#][!-~]*)?$/;
const LONGEST = 1_000;

/** `{next}` of an untrusted URL if it is a page of this service; else nothing. */
export function nextPage(next = ''): { next?: string } {
  return next.length <= LONGEST && PAGE.test(next) ? { next } : {};
}
