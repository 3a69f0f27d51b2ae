import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { SampleService } from './sample-service.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = join(ROOT, 'docs/integrations/assistants');

/** A tool, its arguments, and the request that it stands for. */
type Read = [tool: string, given: Record<string, unknown>, path: string];

/**
 * The protocol's own client with the page's files, by `/mcp` and by `dbvitals mcp`, in both revisions: each tool gives what its
 * endpoint answers, and the activity log has each call.
 */
export async function askAsAssistant(service: SampleService): Promise<string[]> {
  const { data } = await service.read<{ data: { id: number; status: string }[] }>('/api/v1/health/fleet');
  const id = data.find(({ status }) => status === 'critical')?.id ?? 0;
  const reads: Read[] = [
    ['getFleet', {}, '/api/v1/health/fleet'],
    ['getLatestHealthCheck', { id }, `/api/v1/health/connections/${id}/checks/latest`],
    ['listTickets', { status: 'open', per_page: 5 }, '/api/v1/ops/tickets?status=open&per_page=5'],
    ['listMeasures', { id }, `/api/v1/health/connections/${id}/measures`],
    [
      'listFleetMeasures',
      { metric: 'connections_used_ratio' },
      '/api/v1/health/measures?metric=connections_used_ratio',
    ],
  ];
  const wrong: string[] = [];
  for (const road of ['mcp-http.json', 'mcp.json']) {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const name = `${road}, ${revision}`;
      const { key } = await service.newKey(name);
      const found = await readAll({ service, road, revision, key, reads });
      const entries = await entriesOf(service, name);
      if (entries.length !== reads.length) found.push(`${entries.length} calls are in the log`);
      wrong.push(...found.map((line) => `${name}: ${line}`));
    }
  }
  return wrong;
}

async function readAll({
  service,
  road,
  revision,
  key,
  reads,
}: {
  service: SampleService;
  road: string;
  revision: string;
  key: string;
  reads: Read[];
}): Promise<string[]> {
  const wrong: string[] = [];
  const mode = revision === '2025-11-25' ? {} : { versionNegotiation: { mode: { pin: revision } } };
  const client = new Client({ name: 'test-clients', version: '1' }, mode);
  await client.connect(transportOf(service, road, key));
  try {
    if (client.getNegotiatedProtocolVersion() !== revision) wrong.push('another revision was agreed on');
    await client.listTools(); // the client then holds each answer to its tool's schema
    for (const [name, given, path] of reads) {
      const { structuredContent, content } = await client.callTool({ name, arguments: given });
      const answer = await service.read<object>(path);
      if (!isDeepStrictEqual(structuredContent, answer))
        wrong.push(`${name} gave ${JSON.stringify(content)}`);
    }
    return wrong;
  } finally {
    await client.close();
  }
}

function transportOf({ origin }: SampleService, road: string, key: string) {
  const text = readFileSync(join(PAGE, road), 'utf8')
    .replaceAll('/opt/dbvitals', ROOT)
    .replace('https://dbvitals.example.com', origin)
    .replace('<API_KEY>', key);
  const { url, headers, command, args, env } = JSON.parse(text).mcpServers.dbvitals;
  if (url) return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  return new StdioClientTransport({ command, args, env });
}

/** The calls by a key, without the messages that are no calls. */
async function entriesOf(service: SampleService, keyName: string): Promise<object[]> {
  const { data } = await service.read<{
    data: { properties: { api_key_name: string; user_agent: string } }[];
  }>('/api/v1/activity?action_type=api_request&per_page=100');
  return data.filter(
    ({ properties: { api_key_name: name, user_agent: agent } }) =>
      name === keyName && agent.startsWith('dbvitals-mcp/'),
  );
}
