/** The parts of an OpenAPI document that the reference shows; references point to `components`. */
interface OpenApi {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, { get: Operation }>;
  webhooks: Record<string, { post: Operation & { requestBody: { content: Content } } }>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { description: string }>;
    responses: Record<string, Response>;
  };
}

interface Operation {
  summary: string;
  description: string;
  tags: [string];
  parameters: { name: string; in: string; description: string; schema: Schema }[];
  responses: Record<string, Response>;
}

interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Content;
}

interface Content {
  'application/json': { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> };
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  format?: string;
  const?: string;
  enum?: string[];
  'x-extensible-enum'?: string[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

/** Returns the reference as Markdown, with the same content as the OpenAPI document. */
export function markdown(document: OpenApi): string {
  const { info, tags, paths, webhooks, components } = document;
  const operations = Object.entries(paths);
  return [
    `# ${info.title} ${info.version}`,
    info.description,
    ...tags.flatMap((tag) => [
      `## ${tag.name}`,
      `${tag.description}.`,
      ...operations
        .filter(([, { get }]) => get.tags[0] === tag.name)
        .flatMap(([path, { get }]) => operation(path, get)),
    ]),
    '## Records',
    ...Object.entries(components.schemas)
      .filter(([name]) => !name.endsWith('Body') && !name.endsWith('Event'))
      .flatMap(([name, schema]) => [`### ${name}`, `${sentence(schema.description)}`, fields(schema)]),
    '## Errors',
    ...failures(operations, components.responses),
    '## Response headers',
    table(
      ['header', 'meaning'],
      Object.entries(components.headers).map(([name, { description }]) => [code(name), description]),
    ),
    '## Events',
    'Sent to the destinations of the account that chose them: webhooks, chats, e-mail and others. The format of the payloads does not change.',
    ...Object.entries(webhooks).flatMap(([kind, { post }]) => {
      const { schema, example } = post.requestBody.content['application/json'];
      const data = resolve(schema, components.schemas).properties?.['data'] ?? {};
      return [`### ${kind}`, `${post.summary}.`, fields(data), json(example)];
    }),
  ]
    .join('\n\n')
    .concat('\n');
}

function operation(path: string, { summary, description, parameters, responses }: Operation): string[] {
  const content = responses['200']?.content?.['application/json'];
  const statuses = Object.keys(responses).join(', ');
  return [
    `### GET ${path}`,
    `${summary}. ${description}`,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['parameter', 'in', 'type', 'meaning'],
            parameters.map(({ name, in: where, schema, description: meaning }) => [
              code(name),
              where,
              type(schema),
              meaning,
            ]),
          ),
        ]),
    `Statuses: ${statuses}. Answer: ${type(content?.schema ?? {})}`,
    json(content?.example),
  ];
}

function failures(operations: [string, { get: Operation }][], responses: Record<string, Response>): string[] {
  const named = new Map<string, string>();
  for (const [, { get }] of operations) {
    for (const [status, { $ref }] of Object.entries(get.responses)) {
      if ($ref !== undefined) named.set(status, lastStep($ref));
    }
  }
  const rows = [...named].sort().flatMap(([status, name]) => {
    const { description = '', content } = responses[name] ?? {};
    return Object.keys(content?.['application/json'].examples ?? {}).map((errorCode) => [
      status,
      code(errorCode),
      description,
    ]);
  });
  const limited = responses['TooManyRequests']?.content?.['application/json'].examples?.['rate_limited'];
  return [table(['status', 'code', 'when'], rows), json(limited?.value)];
}

function fields({ properties = {} }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) => [
    code(name),
    type(schema),
    schema.description ?? '',
  ]);
  return table(['field', 'type', 'meaning'], rows);
}

function type(schema: Schema): string {
  if (schema.$ref !== undefined) return lastStep(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(type).join(' or ');
  if (schema.items) return `list of ${type(schema.items)}`;
  if (schema.properties) {
    const parts = Object.entries(schema.properties).map(([name, part]) => `${name}: ${type(part)}`);
    return `{${parts.join(', ')}}`;
  }
  const values = schema.enum ?? schema['x-extensible-enum'];
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const least = minimum === undefined ? '' : `, ${minimum}`;
  const bounds = maximum === Number.MAX_SAFE_INTEGER ? least && `${least} or more` : `${least} to ${maximum}`;
  return [
    [schema.type].flat().join(' or '),
    bounds,
    schema.format === undefined || schema.format === 'int64' ? '' : ` (${schema.format})`,
    values ? `: ${values.map(code).join(', ')}${schema.enum ? '' : ' …'}` : '',
    schema.const === undefined ? '' : `: ${code(schema.const)}`,
    schema.default === undefined ? '' : `, default ${code(String(schema.default))}`,
  ].join('');
}

function resolve(schema: Schema, schemas: Record<string, Schema>): Schema {
  return schema.$ref === undefined ? schema : (schemas[lastStep(schema.$ref)] ?? schema);
}

function lastStep(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1);
}

function code(text: string): string {
  return `\`${text}\``;
}

function sentence(text = ''): string {
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
