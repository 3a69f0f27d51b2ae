// Keywords of statements that read: of PostgreSQL's appendix C, and of MySQL's.

/** They can stand before a parenthesis, and no function of a user can have their name without quotes. */
export const SYNTAX = new Set(
  `all and any array as asc between bigint bit boolean both case cast char character check coalesce collate count current_date
   current_role current_time current_timestamp current_user dec decimal desc distinct else end except exists extract float from
   full greatest group grouping having ilike in inner int integer intersect interval is isnull join lateral leading least left like
   limit localtime localtimestamp max min natural nchar not notnull null nullif numeric offset on only or order outer overlaps overlay
   position precision real right row select session_user similar smallint some straight_join substring sum symmetric then time
   timestamp trailing treat trim union user using values varchar when where window with xmlagg xmlattributes xmlconcat xmlelement
   xmlforest xmlparse xmlpi xmlroot xmlserialize`.split(/\s+/),
);

/** They do so only behind these: a function may have their names. */
export const AFTER: Readonly<Record<string, readonly string[]>> = {
  by: ['group', 'order', 'partition'],
  filter: [')'],
  materialized: ['as', 'not'],
  over: [')'],
  sets: ['grouping'],
};

/** They begin what is no longer the list of FROM. */
export const ENDS_FROM = new Set(
  'where group having window union intersect except minus order limit offset fetch for'.split(' '),
);

/** Behind a table of FROM they are no alias. */
export const NO_ALIAS = new Set(
  'as cross force full ignore inner join left natural on outer right straight_join tablesample use using with'.split(
    ' ',
  ),
);

/** In their parentheses FROM begins no list of tables. */
export const OWN_FROM = new Set(['extract', 'overlay', 'substring', 'trim']);

/** A statement with one of these does not only read, or reads what is not behind FROM. */
export const OTHER_WORK = new Set(
  'call copy delete do execute insert into lock merge table truncate update'.split(' '),
);

/** Functions of MySQL and MariaDB that statements on their catalogues use. A user's own can't have these names without a schema. */
export const MYSQL_FUNCTIONS = new Set(
  `abs avg ceil ceiling char_length concat concat_ws convert count current_user database date_format field find_in_set floor
   format format_bytes format_pico_time from_unixtime group_concat hex if ifnull inet_ntoa instr isnull json_arrayagg json_extract
   json_object json_unquote left length lower ltrim max min mod now nullif quote repeat replace reverse right round rtrim schema
   sign substr substring substring_index sum sysdate timediff timestampdiff trim truncate unhex unix_timestamp upper user
   utc_timestamp uuid version`.split(/\s+/),
);
