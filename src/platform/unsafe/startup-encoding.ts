import type pg from 'pg';

/**
 * Makes a client take texts as the bytes that the server has. pg asks every server for UTF8, and a database of an encoding that
 * PostgreSQL can't convert to it (MULE_INTERNAL) ends the login. pg has no option for it, so the message that begins a login is
 * written here; without it such a database can't be opened, and that is said. Call it before the client connects.
 */
export function startInBytes({ connection }: pg.Client): void {
  if (!hasStartup(connection)) return;
  connection.startup = (settings) => {
    const fields = Object.entries({ ...settings, client_encoding: 'SQL_ASCII' }).flat();
    const body = Buffer.from(`${fields.map((field) => `${field}\0`).join('')}\0`);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(head.length + body.length, 0);
    head.writeUInt16BE(3, 4); // version 3.0 of the protocol
    connection.stream.write(Buffer.concat([head, body]));
  };
}

type Startable = pg.Connection & { startup(settings: Record<string, string>): void };

/** Whether pg has the method that is replaced. */
export function hasStartup(connection: pg.Connection): connection is Startable {
  return (
    'startup' in connection && typeof connection.startup === 'function' && connection.startup.length === 1
  );
}
