import { readFileSync } from 'node:fs';
import * as yaml from 'yaml';
import { readYaml, yamlValue } from '../../platform/read-yaml.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { TLS_MODES } from '../../vocabulary/tls-modes.ts';
import { schemaProblems } from '../apply/schema-problems.ts';

// A program: it reads the text of a collector's file from standard input, and writes a ParsedFile.

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4_000, description });

const Connection = Type.Object(
  {
    url: text('The URL of the database, such as postgres://watcher@db.internal:5432/shop.'),
    password: Type.Optional(text('The password, if it is not in the URL.')),
    password_file: Type.Optional(
      text('A file that contains only the password; it is read for each batch of runs.'),
    ),
    token_command: Type.Optional(
      Type.Array(text('The program or an argument.'), {
        minItems: 1,
        description: 'A program and its arguments, which print a token to log in with.',
      }),
    ),
    tls: Type.Optional({
      ...stringEnum(...TLS_MODES),
      description: `One of ${TLS_MODES.join(', ')} (default: verify-full).`,
    }),
    ca_file: Type.Optional(text("A file of certificates to trust besides the system's.")),
    expose_password: Type.Optional(
      Type.Boolean({
        description: 'Whether the password may be sent in clear text or as MD5 (default: false).',
      }),
    ),
    query_texts: Type.Optional(
      Type.Boolean({
        description:
          'Whether texts of queries may be sent to the service, if it asks for them too (default: false).',
      }),
    ),
    own_checks: Type.Optional(
      Type.Boolean({
        description:
          'Whether own checks run here: SELECT statements that members of the service write (default: false).',
      }),
    ),
    ssh: Type.Optional(text('An SSH server to connect through, as user@host or user@host:22.')),
    ssh_key_file: Type.Optional(text('The private key for the SSH server.')),
    ssh_host_key: Type.Optional(
      text("SHA-256 of the SSH server's key, in base64, as ssh-keygen -l shows it."),
    ),
  },
  { additionalProperties: false, description: 'A connection: at least url.' },
);

const File = Type.Object(
  {
    connections: Type.Record(Type.String({ pattern: '^.{1,200}$' }), Connection, {
      description: 'The connections, each under its name in the service.',
    }),
  },
  { additionalProperties: false, description: 'The file of a collector: connections.' },
);

/** What the reader itself says of the text, which shows nothing of it. */
function describeProblem(read: ReturnType<typeof readYaml>): string {
  return 'problem' in read && read.problem.code.startsWith('TOO_')
    ? `: ${read.problem.message.replace(/^T/, 't')}`
    : '';
}

/** The file as it is written. */
export type WrittenFile = Static<typeof File>;

/** A file of the right form, or what is wrong with it: the end of a sentence that begins with "The file NAME", and shows no secret. */
export type ParsedFile = { file: WrittenFile } | { problem: string };

function parse(text: string): ParsedFile {
  const read = readYaml(text, yaml);
  const resolved = 'problem' in read ? null : yamlValue(read.document);
  // The parser's message shows a part of the file.
  if (!resolved) return { problem: ` is not YAML or JSON${describeProblem(read)}.` };
  const { value: written } = resolved;
  const [problem] = schemaProblems(File, written);
  if (problem) return { problem: `: ${[...problem.path, ''].join('.')} ${problem.sentence}` };
  return { file: written as WrittenFile };
}

process.stdout.write(JSON.stringify(parse(readFileSync(0, 'utf8'))));
