/** How a database is reached, as `connection.connection_type` has it. */
export const CONNECTION_TYPES = ['direct', 'ssh_tunnel', 'unix_socket'] as const;

export type ConnectionType = (typeof CONNECTION_TYPES)[number];
