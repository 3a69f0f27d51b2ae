// A path of a page, which no browser takes for an address elsewhere; single sign-on is told it and has the same
// (src/console/sign-in/single-sign-on.ts).
const PAGE = /^(?:\/[\w-]+)+\/?(?:[?#][!-~]*)?$/;
const LONGEST = 1_000;

/** `{next}` of an address that anyone may have written, where it is a page of this service; else nothing. */
export function nextPage(next = ''): { next?: string } {
  return next.length <= LONGEST && PAGE.test(next) ? { next } : {};
}
