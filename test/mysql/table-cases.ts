/** A table with a fault, and what its remediation must be. */
export interface TableCase {
  check: string;
  /** Unique among the cases. */
  name: string;
  /** `sql`: it works. `steps`: it begins with a look. By engine if they differ; absent if the engine has no such table. */
  kind: Kind | { mysql?: Kind; mariadb?: Kind };
  /** Makes the table `{t}`, in a session without a strict mode. `{o}` is another name, `{n}` is for columns and indexes. */
  create: string[];
}

type Kind = 'sql' | 'steps';

const FULL = 2_100_000_000;
const OLD = 'character set utf8mb3';
const steps = { mysql: 'steps', mariadb: 'steps' } as const;
const onlyMysql = (kind: Kind) => ({ mysql: kind });
const onlyMariadb = (kind: Kind) => ({ mariadb: kind });

const noPrimaryKey: [string, TableCase['kind'], ...string[]][] = [
  [
    'plain',
    'sql',
    'create table {t} (a int, b datetime default now())',
    'insert into {t} (a) values (1), (1)',
  ],
  ['null_id', 'sql', 'create table {t} (id int, a int)', 'insert into {t} values (null, 1), (1, 1), (1, 1)'],
  ['text_id', 'sql', 'create table {t} (id text, row_id json)'],
  ['json_id', 'sql', 'create table {t} (id json not null)'],
  ['double_id', steps, 'create table {t} (id int not null)', 'insert into {t} values (1), (1)'],
  ['uuid_id', steps, 'create table {t} (id char(36) not null)'],
  ['virtual_id', 'sql', 'create table {t} (a int, id int generated always as (a + 1) virtual)'],
  ['counter', steps, 'create table {t} (`{n}` int auto_increment, key (`{n}`))'],
  ['partitioned', steps, 'create table {t} (a int) partition by hash (a) partitions 2'],
  [
    'unique_nulls',
    'sql',
    'create table {t} (a int, u int null unique)',
    'insert into {t} values (1, null), (2, null)',
  ],
  ['unique_prefix', 'sql', 'create table {t} (a int, b varchar(20) not null, unique (b(10)))'],
  ['unique_expression', onlyMysql('sql'), 'create table {t} (a int not null, unique ((a + 1)))'],
  ['unique_blob', onlyMariadb('sql'), 'create table {t} (b text not null, unique (b))'],
  ['wide', steps, 'create table {t} (a varchar(16382)) character set utf8mb4'],
  ['names_taken', steps, 'create table {t} (ID text, Row_Id int, dbvitals_row_id int)'],
  ['versioned', onlyMariadb('steps'), 'create table {t} (a int) with system versioning'],
  [
    'zero_default',
    'sql',
    "create table {t} (a int, d datetime not null default '0000-00-00')",
    'insert into {t} (a) values (1)',
  ],
  [
    'zero_rows',
    'sql',
    'create table {t} (d date, e datetime)',
    "insert into {t} values ('0000-00-00', '2021-02-00')",
  ],
];

const autoincExhaustion: [string, TableCase['kind'], ...string[]][] = [
  [
    'plain_counter',
    'sql',
    `create table {t} (id int primary key auto_increment, a int) auto_increment = ${FULL}`,
  ],
  [
    'attributes',
    'sql',
    `create table {t} (a int, \`{n}\` int unsigned auto_increment invisible primary key comment 'it''s \\\\ a "c"\\n\\t\\u202e') auto_increment = 4000000000 comment 'x'`,
  ],
  [
    'zerofill',
    'sql',
    'create table {t} (id smallint(5) zerofill auto_increment primary key) auto_increment = 65000',
  ],
  [
    'signed',
    'sql',
    'create table {t} (id tinyint auto_increment primary key) auto_increment = 120',
    'insert into {t} values (-5)',
  ],
  [
    'dates',
    'sql',
    `create table {t} (id int auto_increment primary key, d date, z datetime default now() on update now()) auto_increment = ${FULL}`,
    "insert into {t} values (1, '0000-00-00', '2021-02-31')",
  ],
  [
    'checked',
    'sql',
    `create table {t} (id int auto_increment primary key, a int, check (a < 9)) auto_increment = ${FULL}`,
  ],
  [
    'referenced',
    steps,
    `create table {t} (id int auto_increment primary key) auto_increment = ${FULL}`,
    'create table {o} (id int primary key, r int, key (r), foreign key (r) references {t} (id))',
  ],
  [
    'referencing',
    steps,
    'create table {o} (id int auto_increment primary key)',
    `create table {t} (id int auto_increment primary key, constraint f foreign key (id) references {o} (id)) auto_increment = ${FULL}`,
  ],
  [
    'in_partitions',
    'sql',
    `create table {t} (id int auto_increment primary key) auto_increment = ${FULL} partition by range (id) (partition p values less than maxvalue)`,
  ],
  [
    'second_in_key',
    'sql',
    'create table {t} (a int not null, id tinyint auto_increment, primary key (id, a), key (a, id)) engine = MyISAM auto_increment = 126',
  ],
  [
    'widest',
    steps,
    'create table {t} (id bigint unsigned auto_increment primary key) auto_increment = 18000000000000000000',
  ],
  [
    'signed_widest',
    steps,
    'create table {t} (id bigint auto_increment primary key) auto_increment = 9000000000000000000',
  ],
  [
    'not_secondary',
    onlyMysql('steps'),
    `create table {t} (id int auto_increment not secondary primary key) auto_increment = ${FULL}`,
  ],
  [
    'counter_versioned',
    onlyMariadb('sql'),
    `create table {t} (id int auto_increment primary key, d timestamp default now()) auto_increment = ${FULL} with system versioning`,
  ],
  [
    'unversioned_column',
    onlyMariadb('sql'),
    `create table {t} (id int auto_increment primary key without system versioning, a int) auto_increment = ${FULL} with system versioning`,
  ],
];

const charsetLegacy: [string, TableCase['kind'], ...string[]][] = [
  [
    'kinds',
    'sql',
    `create table {t} (id int primary key, a varchar(70) collate utf8mb3_bin not null default 'it''s' comment 'c''d', b text, c varchar(70) comment 'q', d char(9) character set ascii, e mediumtext collate utf8mb3_unicode_ci, unique (a), fulltext (b)) ${OLD}`,
    "insert into {t} (id, a, b) values (1, 'a', 'ü'), (2, 'A', 'ß')",
  ],
  [
    'one_kind',
    'sql',
    `create table {t} (id int primary key, a varchar(70) unique default 'x') ${OLD} collate utf8mb3_unicode_ci`,
    "insert into {t} values (1, 'ü'), (2, 'x')",
  ],
  [
    'binary_kind',
    'sql',
    `create table {t} (a varchar(90) unique) ${OLD} collate utf8mb3_bin`,
    "insert into {t} values ('a'), ('A')",
  ],
  [
    'attributes_of_text',
    'sql',
    `create table {t} (\`{n}\` varchar(90) invisible comment '\\\\ \\n {x}', d date not null default '0000-00-00', t text, s set('a', 'ü''x') not null default 'a') ${OLD}`,
    "insert into {t} (t, d, s) values ('ü', '2021-02-31', 'a')",
  ],
  ['backslash_default', steps, `create table {t} (a varchar(90) default 'a\\\\b', t text) ${OLD}`],
  [
    'expression_default',
    { mysql: 'steps', mariadb: 'sql' },
    `create table {t} (a varchar(90) default (concat('a', 'b')), t text) ${OLD}`,
  ],
  [
    'column_check',
    { mysql: 'sql', mariadb: 'steps' },
    `create table {t} (a varchar(90) check (a <> 'x'), t tinytext) ${OLD}`,
  ],
  ['table_check', 'sql', `create table {t} (a varchar(90), check (a <> 'x'), fulltext (a)) ${OLD}`],
  [
    'generated',
    steps,
    `create table {t} (a varchar(90), b varchar(99) generated always as (concat(a, 'x')) stored) ${OLD}`,
  ],
  ['expression_index', onlyMysql('steps'), `create table {t} (a varchar(90), key ((lower(a)))) ${OLD}`],
  [
    'text_parent',
    steps,
    `create table {t} (a varchar(70) primary key) ${OLD}`,
    `create table {o} (code varchar(70), foreign key (code) references {t} (a)) ${OLD}`,
  ],
  [
    'text_child',
    steps,
    `create table {o} (code varchar(70) primary key) ${OLD}`,
    `create table {t} (a varchar(70), constraint f foreign key (a) references {o} (code)) ${OLD}`,
  ],
  ['wide_row', steps, `create table {t} (a varchar(16000), b varchar(5000)) ${OLD}`],
  ['long_index', steps, `create table {t} (a varchar(1000), unique \`{n}\` (a)) ${OLD}`],
  [
    'long_index_of_compact',
    steps,
    `create table {t} (a varchar(255), unique (a)) ${OLD} row_format = compact`,
  ],
  [
    'long_index_of_myisam',
    steps,
    `create table {t} (a varchar(255), b varchar(40), unique (a, b)) engine = MyISAM ${OLD}`,
  ],
  [
    'wide_page',
    steps,
    `create table {t} (${Array.from({ length: 210 }, (_, n) => `c${n} varchar(12)`).join(', ')}) ${OLD}`,
  ],
  ['text_partitions', steps, `create table {t} (a varchar(90)) ${OLD} partition by key (a) partitions 2`],
  [
    'latin1',
    steps,
    'create table {t} (`{n}` varchar(90), b text) character set latin1',
    "insert into {t} values (_latin1 0xfc, 'a')",
  ],
  ['latin1_bin', steps, 'create table {t} (a varchar(90) collate latin1_bin) character set latin1'],
  [
    'cyrillic',
    steps,
    'create table {t} (a varchar(90) character set latin1 collate latin1_general_cs, b varchar(90) character set cp1251)',
  ],
  [
    'text_versioned',
    onlyMariadb('sql'),
    `create table {t} (a varchar(90), t text) ${OLD} with system versioning`,
  ],
];

const nonInnodb: [string, TableCase['kind'], ...string[]][] = [
  [
    'full_text',
    'sql',
    'create table {t} (id int not null auto_increment primary key, t text, g point not null, fulltext (t), spatial index (g)) engine = MyISAM',
    "insert into {t} (t, g) values ('words', point(1, 1))",
  ],
  ['fts_doc_id', steps, 'create table {t} (fts_doc_id int, t text, fulltext (t)) engine = MyISAM'],
  ['fixed', 'sql', 'create table {t} (a int) engine = MyISAM row_format = fixed'],
  [
    'options',
    'sql',
    "create table {t} (a int, t text) engine = MyISAM pack_keys = 1 delay_key_write = 1 checksum = 1 max_rows = 100 key_block_size = 4 comment 'it''s'",
  ],
  ['compression', onlyMysql('steps'), "create table {t} (a int) engine = MyISAM compression = 'zlib'"],
  ['memory', 'sql', 'create table {t} (a int, index using hash (a)) engine = MEMORY'],
  [
    'csv',
    'sql',
    'create table {t} (a int not null, b varchar(9) not null) engine = CSV',
    "insert into {t} values (1, 'a')",
  ],
  [
    'archive',
    onlyMysql('sql'),
    'create table {t} (a int not null auto_increment primary key, t text) engine = ARCHIVE',
    "insert into {t} (t) values ('a')",
  ],
  [
    'aria',
    onlyMariadb('sql'),
    'create table {t} (a int, t text) engine = Aria transactional = 1 page_checksum = 1 row_format = page',
  ],
  [
    'aria_partitions',
    onlyMariadb('sql'),
    'create table {t} (a int) engine = Aria partition by hash (a) partitions 2',
  ],
  [
    'generated_columns',
    'sql',
    'create table {t} (a int, b int as (a + 1) virtual, c int as (a + 2) stored, key (c)) engine = MyISAM',
  ],
  [
    'counter_second',
    steps,
    'create table {t} (a int not null, id int auto_increment, primary key (a, id)) engine = MyISAM',
  ],
  [
    'odd_dates',
    'sql',
    "create table {t} (id int auto_increment primary key, d datetime not null default '0000-00-00') engine = MyISAM",
    "insert into {t} values (1, '0000-00-00'), (2, '2021-02-31')",
  ],
  [
    'wide_chars',
    steps,
    `create table {t} (${Array.from({ length: 40 }, (_, n) => `c${n} char(250)`).join(', ')}) engine = MyISAM character set latin1`,
  ],
];

const redundantIndex: [string, TableCase['kind'], ...string[]][] = [
  [
    'prefix_of_longer',
    'sql',
    'create table {t} (id int primary key, a int, b int, key `{n}` (a), key two (a, b))',
  ],
  ['unique_of_primary', 'sql', 'create table {t} (id int primary key, unique `{n}` (id))'],
  [
    'of_child',
    'sql',
    'create table {o} (id int primary key)',
    'create table {t} (id int primary key, a int, key `{n}` (a), key two (a, id), constraint f foreign key (a) references {o} (id))',
  ],
  [
    'of_parent',
    onlyMariadb('sql'),
    'create table {t} (id int primary key, a int, b int, key `{n}` (a), key two (a, b))',
    'create table {o} (a int, foreign key (a) references {t} (a))',
  ],
  [
    'of_zero_default',
    'sql',
    "create table {t} (id int primary key, a int, d date not null default '0000-00-00', key `{n}` (a), key two (a, d))",
  ],
  [
    'of_myisam',
    'sql',
    'create table {t} (id int primary key, a int, d date, key `{n}` (a), key two (a, d)) engine = MyISAM',
    "insert into {t} values (1, 1, '0000-00-00')",
  ],
  [
    'of_counter',
    'sql',
    'create table {t} (id int auto_increment, a int not null, primary key (id, a), key `{n}` (id))',
  ],
  [
    'of_versioned',
    onlyMariadb('sql'),
    'create table {t} (id int primary key, a int, b int, key `{n}` (a), key two (a, b)) with system versioning',
  ],
];

const unusedIndex: [string, TableCase['kind'], ...string[]][] = [
  ['never_read', 'sql', 'create table {t} (id int primary key, a int, key `{n}` (a))'],
  [
    'never_read_descending',
    'sql',
    'create table {t} (id int primary key, a varchar(90), key `{n}` (a(5) desc))',
  ],
  [
    'never_read_zero',
    'sql',
    "create table {t} (id int primary key, d date not null default '0000-00-00', key `{n}` (d))",
  ],
  [
    'never_read_myisam',
    'sql',
    'create table {t} (id int primary key, d date, key `{n}` (d)) engine = MyISAM',
    "insert into {t} values (1, '0000-00-00')",
  ],
  [
    'never_read_versioned',
    onlyMariadb('sql'),
    'create table {t} (id int primary key, a int, key `{n}` (a)) with system versioning',
  ],
];

const indexGtData: [string, TableCase['kind'], ...string[]][] = [
  ['many_indexes', steps, 'create table {t} (id int primary key, a int, b int, key (a), key (b))'],
];

const mixedCollations: [string, TableCase['kind'], ...string[]][] = [
  [
    'two_collations',
    steps,
    'create table {t} (two_collations_code varchar(9) collate utf8mb4_bin)',
    'create table {o} (two_collations_code varchar(9) collate utf8mb4_unicode_ci)',
  ],
];

const by = (check: string, cases: typeof noPrimaryKey): TableCase[] =>
  cases.map(([name, kind, ...create]) => ({ check, name, kind, create }));

/** Every kind of remediation of a table, and tables whose remediation is hard to get right. */
export const tableCases: TableCase[] = [
  ...by('MY_NO_PRIMARY_KEY', noPrimaryKey),
  ...by('MY_AUTOINC_EXHAUSTION', autoincExhaustion),
  ...by('MY_CHARSET_LEGACY', charsetLegacy),
  ...by('MY_NON_INNODB', nonInnodb),
  ...by('MY_REDUNDANT_INDEX', redundantIndex),
  ...by('MY_UNUSED_INDEX', unusedIndex),
  ...by('MY_MIXED_COLLATIONS', mixedCollations),
  ...by('MY_INDEX_GT_DATA', indexGtData),
];
