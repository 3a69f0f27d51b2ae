import type { Vital } from './vital.ts';

/** The vitals of PgBouncer, in the order of the reference. */
export const pgbouncerVitals: readonly Vital[] = [
  {
    metric: 'transactions_per_second',
    title: 'Transactions',
    meaning: 'Transactions of all databases (total_xact_count).',
  },
  {
    metric: 'queries_per_second',
    title: 'Queries',
    meaning: 'Statements of all databases (total_query_count).',
  },
  {
    metric: 'connections_count',
    title: 'Connections',
    meaning: 'Clients of PgBouncer, the one of dbvitals included.',
  },
  {
    metric: 'waiting_clients_count',
    title: 'Waiting clients',
    meaning: 'Clients that wait for a server connection (cl_waiting).',
  },
  {
    metric: 'longest_client_wait_seconds',
    title: 'Longest wait of a client',
    meaning: 'How long a client has waited for a server connection by now (maxwait).',
  },
  {
    metric: 'active_server_connections_count',
    title: 'Active server connections',
    meaning: 'Connections to servers that a client uses (sv_active).',
  },
  {
    metric: 'idle_server_connections_count',
    title: 'Idle server connections',
    meaning: 'Connections to servers that no client uses (sv_idle, sv_used, sv_tested).',
  },
  {
    metric: 'transaction_mean_seconds',
    title: 'Mean transaction time',
    meaning: 'How long a transaction took since the last run, on average (total_xact_time).',
  },
  {
    metric: 'query_mean_seconds',
    title: 'Mean query time',
    meaning: 'How long a statement took since the last run, on average (total_query_time).',
  },
  {
    metric: 'client_wait_mean_seconds',
    title: 'Mean wait of a transaction',
    meaning:
      'How long clients waited for a server connection since the last run, per transaction (total_wait_time).',
  },
  {
    metric: 'received_bytes_per_second',
    title: 'Received',
    meaning: 'Bytes from clients and servers (total_received).',
  },
  {
    metric: 'sent_bytes_per_second',
    title: 'Sent',
    meaning: 'Bytes to clients and servers (total_sent).',
  },
];
