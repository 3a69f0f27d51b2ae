/**
 * The path of the service behind a proxy, such as `/dbvitals`; empty = the root. The build puts this file into `assets/`
 * below it.
 */
export const BASE_PATH = new URL(import.meta.url).pathname.replace(/\/(?:assets|src)\/[^/]*$/, '');

/** The address of the service, such as `https://db.example.com/dbvitals`. */
export const serviceUrl = () => location.origin + BASE_PATH;
