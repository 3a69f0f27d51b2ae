/** `cluster_name` of the embedded store: its programs come with dbvitals. */
export const EMBEDDED_STORE = 'dbvitals-store';
