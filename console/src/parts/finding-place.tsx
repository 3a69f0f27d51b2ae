import { ConnectionLink } from './connection-link.tsx';
import { Named } from './named.tsx';

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
        <ConnectionLink id={connection_id} name={connection_name} />
      )}
      <Named name={database} words=" · database " />
      <Named name={object} words=" · " />
    </p>
  );
}
