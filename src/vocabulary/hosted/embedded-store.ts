/** `cluster_name` of the embedded store: its programs come with dbvitals. */
export const EMBEDDED_STORE = 'dbvitals-store';

/** The name of the connection by which a new store watches itself. */
export const OWN_STORE = 'dbvitals store';
