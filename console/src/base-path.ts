/** Where the service stands behind a proxy, such as `/dbvitals`; empty = at the root. This file is built into `assets/` there. */
export const BASE_PATH = new URL(import.meta.url).pathname.replace(/\/(?:assets|src)\/[^/]*$/, '');

/** The address of the service, such as `https://db.example.com/dbvitals`. */
export const serviceUrl = () => location.origin + BASE_PATH;
