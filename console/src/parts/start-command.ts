/** The lines of a shell that store a token and start a collector with it. */
export function startCommand(url: string, name: string, token: string): string {
  return [
    `(umask 077 && echo ${quoted(token)} > token)`,
    `dbvitals collect --url ${quoted(url)} --name ${quoted(name)} --file collector.yaml --token-file token`,
  ].join('\n');
}

/** A word of a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The lines of a collector's file for a connection. Its name is text of a member, so it is quoted as JSON, which is YAML. */
export function fileLines(
  name: string,
  engine: 'postgres' | 'mysql' | 'mariadb',
  storesTexts = false,
): string {
  const word = /^[A-Za-z][\w.-]*$/.test(name) ? name : JSON.stringify(name);
  const file = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-');
  const url = engine === 'postgres' ? 'postgres://USER@HOST:5432/DATABASE' : `${engine}://USER@HOST:3306`;
  return [
    'connections:',
    `  ${word}:`,
    `    url: ${url}`,
    `    password_file: /etc/dbvitals/${file}-password`,
    ...(storesTexts ? ['    query_texts: true'] : []),
  ].join('\n');
}
