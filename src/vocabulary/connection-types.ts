/** How dbvitals connects to a database, as stored in `connection.connection_type`. */
export const CONNECTION_TYPES = ['direct', 'ssh_tunnel', 'unix_socket'] as const;

export type ConnectionType = (typeof CONNECTION_TYPES)[number];
