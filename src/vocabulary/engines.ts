/** The engines of connections, as stored in `connection.engine` and in the scheme of a URL. */
export const ENGINES = ['postgres', 'mysql', 'mariadb'] as const;

export type Engine = (typeof ENGINES)[number];

/** The names of the engines in text. */
export const ENGINE_NAMES: Readonly<Record<Engine, string>> = {
  postgres: 'PostgreSQL',
  mysql: 'MySQL',
  mariadb: 'MariaDB',
};

/** The engine that a URL's scheme names; PostgreSQL has two schemes. */
export function engineOfScheme(scheme: string): Engine {
  return ENGINES.find((engine) => engine === scheme) ?? 'postgres';
}
