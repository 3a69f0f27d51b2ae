/** Where the finding of a row is: the connection and the object. Names come from the server, so they are text. */
export function RowPlace({ of }: { of: { connection_name: string; object: string | null } }) {
  const { connection_name, object } = of;
  return (
    <span className="row-place">
      <bdi>{connection_name}</bdi>
      {object !== null && (
        <>
          {' · '}
          <bdi className="mono">{object}</bdi>
        </>
      )}
    </span>
  );
}
