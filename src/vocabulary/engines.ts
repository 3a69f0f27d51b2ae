/** The engine of a connection, as in `connection.engine`, by the scheme of its URL. */
export const ENGINES = ['postgres', 'mysql', 'mariadb'] as const;

export type Engine = (typeof ENGINES)[number];

/** Their names in text. */
export const ENGINE_NAMES: Readonly<Record<Engine, string>> = {
  postgres: 'PostgreSQL',
  mysql: 'MySQL',
  mariadb: 'MariaDB',
};

/** The engine that a URL's scheme names; PostgreSQL has two schemes. */
export function engineOfScheme(scheme: string): Engine {
  return ENGINES.find((engine) => engine === scheme) ?? 'postgres';
}
