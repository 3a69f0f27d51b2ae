import { Link } from '@tanstack/react-router';

/** Where a finding, a ticket or an alert is. */
interface Place {
  connection_id: number;
  connection_name: string;
  connection_removed: boolean;
  /** '' = the whole server. */
  database: string;
  object: string | null;
}

/** The connection with a link, the database and the object. */
export function FindingPlace({ of }: { of: Place }) {
  const { connection_id, connection_name, connection_removed, database, object } = of;
  return (
    <p className="quiet">
      {connection_removed ? (
        <>
          <bdi>{connection_name}</bdi> (removed)
        </>
      ) : (
        <Link params={{ id: String(connection_id) }} to="/connections/$id">
          <bdi>{connection_name}</bdi>
        </Link>
      )}
      {database && (
        <>
          {' · '}database <bdi className="mono">{database}</bdi>
        </>
      )}
      {object !== null && (
        <>
          {' · '}
          <bdi className="mono">{object}</bdi>
        </>
      )}
    </p>
  );
}
