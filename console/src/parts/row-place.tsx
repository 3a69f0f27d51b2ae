interface RowPlaceProps {
  of: { connection_name: string; object: string | null };
  /** A heading above the row names the connection. */
  isConnectionNamed?: boolean;
}

/** Where the finding of a row is: the connection and the object. Names come from the server, so they are text. */
export function RowPlace({ of: { connection_name, object }, isConnectionNamed = false }: RowPlaceProps) {
  if (isConnectionNamed && object === null) return null;
  return (
    <span className="row-place">
      {!isConnectionNamed && <bdi>{connection_name}</bdi>}
      {!isConnectionNamed && object !== null && ' · '}
      {object !== null && <bdi className="mono">{object}</bdi>}
    </span>
  );
}
