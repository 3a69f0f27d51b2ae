import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';

/** A text of 1 to `most` UTF-16 units, which is never less than vendors count. */
function text(most: number) {
  return Type.Refine(
    Type.String(),
    (words) => words.length > 0 && words.length <= most,
    () => `1 to ${most} units`,
  );
}

/** An object with these properties and no other. */
function only<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

const link = Type.Refine(
  Type.String(),
  (url) => URL.canParse(url) && /^https?:/.test(url),
  () => 'an absolute URL',
);
const color = Type.String({ pattern: '^#[0-9a-f]{6}$' });

// https://docs.slack.dev/reference/block-kit/composition-objects/text-object
const slackText = only({ type: Type.Literal('mrkdwn'), text: text(3_000), verbatim: Type.Literal(true) });

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and https://docs.slack.dev/reference/block-kit/blocks */
const slack = only({
  text: text(40_000),
  unfurl_links: Type.Boolean(),
  unfurl_media: Type.Boolean(),
  blocks: Type.Array(
    Type.Union([
      only({ type: Type.Literal('section'), text: slackText }),
      only({ type: Type.Literal('context'), elements: Type.Array(slackText, { minItems: 1, maxItems: 10 }) }),
    ]),
    { minItems: 1, maxItems: 50 },
  ),
});

/** https://docs.mattermost.com/developers/integrate/reference/message-attachments */
const mattermost = only({
  text: Type.Optional(text(16_383)),
  attachments: Type.Array(
    only({
      fallback: text(16_383),
      color,
      title: Type.Optional(text(16_383)),
      title_link: Type.Optional(link),
      text: text(16_383),
      footer: Type.Optional(text(16_383)),
    }),
    { minItems: 1 },
  ),
});

// https://adaptivecards.io/explorer/RichTextBlock.html and https://adaptivecards.io/explorer/TextRun.html
const run = only({
  type: Type.Literal('TextRun'),
  text: text(28_000),
  weight: Type.Optional(Type.Enum(['Lighter', 'Default', 'Bolder'])),
  size: Type.Optional(Type.Enum(['Small', 'Default', 'Medium', 'Large', 'ExtraLarge'])),
  color: Type.Optional(Type.Enum(['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'])),
  fontType: Type.Optional(Type.Enum(['Default', 'Monospace'])),
  isSubtle: Type.Optional(Type.Boolean()),
  selectAction: Type.Optional(only({ type: Type.Literal('Action.OpenUrl'), url: link })),
});

// http://adaptivecards.io/schemas/adaptive-card.json, as far as cards of dbvitals use it
const card = only({
  $schema: Type.Literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: Type.Literal('AdaptiveCard'),
  version: Type.Literal('1.4'),
  msteams: only({ width: Type.Literal('Full') }),
  fallbackText: text(28_000),
  body: Type.Array(only({ type: Type.Literal('RichTextBlock'), inlines: Type.Array(run, { minItems: 1 }) }), {
    minItems: 1,
  }),
  actions: Type.Array(only({ type: Type.Literal('Action.OpenUrl'), title: text(200), url: link }), {
    maxItems: 6,
  }),
});

/** https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using */
const teams = only({
  type: Type.Literal('message'),
  attachments: Type.Array(
    only({
      contentType: Type.Literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: Type.Null(),
      content: card,
    }),
    { minItems: 1, maxItems: 1 },
  ),
});

/** https://discord.com/developers/docs/resources/webhook#execute-webhook and https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
const discord = only({
  content: Type.Optional(text(2_000)),
  embeds: Type.Array(
    only({
      title: Type.Optional(text(256)),
      url: Type.Optional(link),
      color: Type.Integer({ minimum: 0, maximum: 0xffffff }),
      description: text(4_096),
      footer: only({ text: text(2_048) }),
    }),
    { minItems: 1, maxItems: 10 },
  ),
  allowed_mentions: only({ parse: Type.Array(Type.Never(), { maxItems: 0 }) }),
});

/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
const pagerduty = only({
  routing_key: Type.Refine(
    Type.String(),
    ({ length }) => length === 32,
    () => '32 characters',
  ),
  event_action: Type.Enum(['trigger', 'acknowledge', 'resolve']),
  dedup_key: text(255),
  client: text(255),
  client_url: link,
  links: Type.Array(only({ href: link, text: text(255) })),
  payload: only({
    summary: text(1_024),
    source: text(1_024),
    severity: Type.Enum(['critical', 'error', 'warning', 'info']),
    timestamp: Type.String({ format: 'date-time' }),
    component: Type.Optional(text(1_024)),
    group: Type.Optional(Type.String()),
    class: Type.Optional(text(1_024)),
    custom_details: Type.Record(Type.String(), Type.String()),
  }),
});

/** Of the channels without a program to test with: what the vendor documents. */
const VENDORS = {
  slack: { schema: slack, mostBytes: 100_000 },
  mattermost: { schema: mattermost, mostBytes: 100_000 },
  teams: { schema: teams, mostBytes: 28_000 },
  discord: { schema: discord, mostBytes: 100_000 },
  pagerduty: { schema: pagerduty, mostBytes: 512_000 },
} as const;

/** The bytes of JSON as .NET's System.Text.Json writes it by default: only letters, digits and harmless marks stay. */
function asAscii(body: string): number {
  const write = (text: string) =>
    text.replace(
      /[^\x20-\x7e]|["&'+<>`]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const rewrite = (value: unknown): unknown => {
    if (typeof value === 'string') return write(value);
    if (Array.isArray(value)) return value.map(rewrite);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rewrite(part)]));
  };
  // Each backslash that was written is one more by JSON.stringify.
  const json = JSON.stringify(rewrite(JSON.parse(body)));
  return json.length - (json.match(/\\\\u[0-9a-f]{4}/g)?.length ?? 0);
}

export type Vendor = keyof typeof VENDORS;

export const VENDOR_NAMES = Object.keys(VENDORS) as Vendor[];

/** What the vendor would refuse in a body; empty when it is as documented. */
export function problemsOf(vendor: Vendor, body: string): string[] {
  const { schema, mostBytes } = VENDORS[vendor];
  const parsed: unknown = JSON.parse(body);
  const problems = Value.Errors(schema, parsed).map(
    ({ instancePath, message }) => `${instancePath}: ${message}`,
  );
  const bytes = vendor === 'teams' ? asAscii(body) : Buffer.byteLength(body);
  if (bytes > mostBytes) problems.push(`more than ${mostBytes} bytes`);
  if (vendor === 'discord' && Value.Check(discord, parsed)) {
    const sizes = parsed.embeds.map(
      ({ title = '', description, footer }) => title.length + description.length + footer.text.length,
    );
    if (sizes.reduce((sum, size) => sum + size, 0) > 6_000)
      problems.push('more than 6,000 characters in all embeds');
  }
  return problems;
}
