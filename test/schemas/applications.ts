/** An application whose schema is loaded: files of a Debian package, by engine. A `*` stands for any name. */
export interface Application {
  name: string;
  postgres?: readonly DebianFile[];
  mysql?: readonly DebianFile[];
  /** These versions do not install on MySQL 9. */
  mariadbOnly?: true;
}

/** A file of a Debian package, as an absolute path in it. Compressed if it ends in `.gz`. */
export interface DebianFile {
  package: string;
  path: string;
}

const of = (debian: string, ...paths: string[]): DebianFile[] =>
  paths.map((path) => ({ package: debian, path }));

const KAMAILIO = (engine: 'postgres' | 'mysql') =>
  of(
    `kamailio-${engine}-modules`,
    `/usr/share/kamailio/${engine}/standard-create.sql`,
    `/usr/share/kamailio/${engine}/{[a-h],[j-r],[t-z]}*-create.sql`,
    `/usr/share/kamailio/${engine}/{imc,s[!t]*}-create.sql`,
  );

/** Real applications of Debian 12, with the schemas that they install. Zabbix comes with its rows too. */
export const applications: readonly Application[] = [
  {
    name: 'cacti',
    mysql: of('cacti', '/usr/share/cacti/conf_templates/cacti.sql'),
    mariadbOnly: true, // it sets the mode NO_AUTO_CREATE_USER
  },
  {
    name: 'ejabberd',
    postgres: of('ejabberd', '/usr/share/ejabberd/sql/pg.new.sql'),
    mysql: of('ejabberd', '/usr/share/ejabberd/sql/mysql.new.sql'),
  },
  {
    name: 'freeradius',
    postgres: of('freeradius-config', '/etc/freeradius/3.0/mods-config/sql/main/postgresql/schema.sql'),
    mysql: of('freeradius-config', '/etc/freeradius/3.0/mods-config/sql/main/mysql/schema.sql'),
  },
  {
    name: 'gammu',
    postgres: of('gammu-smsd', '/usr/share/doc/gammu-smsd/examples/pgsql.sql'),
    mysql: of('gammu-smsd', '/usr/share/doc/gammu-smsd/examples/mysql.sql'),
  },
  {
    name: 'icingadb',
    postgres: of('icingadb', '/usr/share/icingadb/schema/pgsql/schema.sql'),
    mysql: of('icingadb', '/usr/share/icingadb/schema/mysql/schema.sql'),
  },
  {
    name: 'icingaweb',
    postgres: of('icingaweb2', '/usr/share/icingaweb2/schema/pgsql.schema.sql'),
    mysql: of('icingaweb2', '/usr/share/icingaweb2/schema/mysql.schema.sql'),
  },
  { name: 'kamailio', postgres: KAMAILIO('postgres'), mysql: KAMAILIO('mysql') },
  {
    name: 'kea',
    postgres: of('kea-admin', '/usr/share/kea/scripts/pgsql/dhcpdb_create.pgsql'),
    mysql: of('kea-admin', '/usr/share/kea/scripts/mysql/dhcpdb_create.mysql'),
  },
  {
    name: 'mediawiki',
    postgres: of(
      'mediawiki',
      '/usr/share/mediawiki/maintenance/postgres/tables-generated.sql',
      '/usr/share/mediawiki/maintenance/postgres/tables.sql',
    ),
    mysql: of(
      'mediawiki',
      '/usr/share/mediawiki/maintenance/tables-generated.sql',
      '/usr/share/mediawiki/maintenance/tables.sql',
    ),
  },
  {
    name: 'powerdns',
    postgres: of('pdns-backend-pgsql', '/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql'),
    mysql: of('pdns-backend-mysql', '/usr/share/pdns-backend-mysql/schema/schema.mysql.sql'),
  },
  {
    name: 'request-tracker',
    postgres: of('request-tracker5', '/usr/share/request-tracker5/etc/schema.Pg'),
    mysql: of('request-tracker5', '/usr/share/request-tracker5/etc/schema.mysql'),
    mariadbOnly: true, // it names a table Groups, which is a reserved word
  },
  {
    name: 'roundcube',
    postgres: of('roundcube-core', '/usr/share/roundcube/SQL/postgres.initial.sql'),
    mysql: of('roundcube-core', '/usr/share/roundcube/SQL/mysql.initial.sql'),
  },
  {
    name: 'tt-rss',
    postgres: of('tt-rss', '/usr/share/tt-rss/schema/ttrss_schema_pgsql.sql'),
    mysql: of('tt-rss', '/usr/share/tt-rss/schema/ttrss_schema_mysql.sql'),
  },
  {
    name: 'zabbix',
    postgres: of(
      'zabbix-server-pgsql',
      '/usr/share/zabbix-server-pgsql/schema.sql.gz',
      '/usr/share/zabbix-server-pgsql/images.sql.gz',
      '/usr/share/zabbix-server-pgsql/data.sql.gz',
    ),
    mysql: of(
      'zabbix-server-mysql',
      '/usr/share/zabbix-server-mysql/schema.sql.gz',
      '/usr/share/zabbix-server-mysql/images.sql.gz',
      '/usr/share/zabbix-server-mysql/data.sql.gz',
    ),
  },
];
