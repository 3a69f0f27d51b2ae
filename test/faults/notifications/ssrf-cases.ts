import type { NameAnswer } from './name-server.ts';

/** An address that is public on paper and on this machine in the test, where the receiver that may get requests listens. */
export const PUBLIC = '93.184.215.14';

/** Addresses of the test's machine that no request may reach. */
export const INNER = [
  '10.0.0.5',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  'fd00::1',
  'fd00:ec2::254',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::',
];

/** Names that resolve to addresses that are never allowed, or not without the setting. */
const RESOLVING: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1'],
  'loopback-6': ['::1'],
  'loopback-other': ['127.8.8.8'],
  mapped: ['::ffff:127.0.0.1'],
  compatible: ['::127.0.0.1'],
  nat64: ['64:ff9b::7f00:1'],
  '6to4': ['2002:7f00:1::'],
  unspecified: ['0.0.0.0'],
  'unspecified-6': ['::'],
  ten: ['10.0.0.5'],
  'one-seven-two': ['172.16.0.1'],
  'one-nine-two': ['192.168.1.1'],
  carrier: ['100.64.0.1'],
  unique: ['fd00::1'],
  'public-then-private': [PUBLIC, '127.0.0.1'],
  'private-then-public': ['10.0.0.5', PUBLIC],
  'public-and-loopback-6': [PUBLIC, '::1'],
};

/** The same for addresses that no setting allows. */
const METADATA: Readonly<Record<string, readonly string[]>> = {
  metadata: ['169.254.169.254'],
  'metadata-mapped': ['::ffff:169.254.169.254'],
  'metadata-nat64': ['64:ff9b::a9fe:a9fe'],
  'metadata-6to4': ['2002:a9fe:a9fe::'],
  'metadata-aws-6': ['fd00:ec2::254'],
  'metadata-alibaba': ['100.100.100.200'],
  'metadata-azure': ['168.63.129.16'],
  'metadata-beside-public': [PUBLIC, '169.254.169.254'],
  'link-local': ['fe80::1'],
};

/** What a broken or hostile name server says. */
const BROKEN: Readonly<Record<string, NameAnswer>> = {
  absent: { code: 3 },
  servfail: { code: 2 },
  refused: { code: 5 },
  empty: { addresses: [] },
  garbage: { bytes: Buffer.from('not an answer') },
  short: { bytes: Buffer.alloc(3) },
  circle: { alias: 'circle.test' },
  silent: null,
};

/** URLs that are wrong in themselves. */
export const WRONG_URLS = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://①②⑦.⓪.⓪.①/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.5/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1:7f00:0:100:808:808]/',
  'https://[2002:7f00:1::]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25lo]/',
  'https://[2001:db8::1]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://localhost.test/',
  `https://hooks.example.com@127.0.0.1/`,
  'https://ada:hunter2@hooks.example.com/',
  'https://ada@hooks.example.com/',
  'http://hooks.example.com/',
  'file:///etc/passwd',
  'gopher://127.0.0.1/',
  'ftp://hooks.example.com/',
  'unix:/tmp/x',
  'https://hooks.example.com:99999/',
  'https:///',
  '//127.0.0.1/',
  'https://',
  '',
];

/** URLs of metadata services and of link-local addresses, which no setting allows. */
export const METADATA_URLS = [
  '//169.254.169.254/latest/meta-data/',
  '//2852039166/',
  '//0xa9fea9fe/',
  '//0251.0376.0251.0376/',
  '//169.254.1.1/',
  '//[::ffff:169.254.169.254]/',
  '//[::ffff:a9fe:a9fe]/',
  '//[::a9fe:a9fe]/',
  '//[64:ff9b::a9fe:a9fe]/',
  '//[64:ff9b:1:a9fe:a9:fe00::]/',
  '//[2002:a9fe:a9fe::]/',
  '//[fd00:ec2::254]/',
  '//[fe80::1]/',
  '//100.100.100.200/',
  '//168.63.129.16/',
  '//192.0.0.192/',
  '//metadata.google.internal/',
  ...Object.keys(METADATA).map((name) => `//${name}.test/`),
].flatMap((rest) => [`https:${rest}`, `http:${rest}`]);

/** URLs of names that resolve to private addresses, or not at all. */
export const WRONG_NAMES = [RESOLVING, METADATA, BROKEN]
  .flatMap((names) => Object.keys(names))
  .map((name) => `https://${name}.test/`);

/** Names that no server answers. */
export const HANGING = Array.from({ length: 40 }, (_, place) => `https://hanging-${place}.test/`);

/** Once it is on, the first answer for `hooks.example.com` is public, and all others are this machine. */
export const rebinding: { on: boolean; first: number | null } = { on: false, first: null };

/** What the test's name server answers. */
export function answerOf(name: string, asked: number): NameAnswer {
  if (name === 'hooks.example.com') {
    if (rebinding.on) rebinding.first ??= asked;
    return { addresses: rebinding.on && asked !== rebinding.first ? ['127.0.0.1'] : [PUBLIC] };
  }
  if (name === 'localhost' || name === 'localhost.test') return { addresses: ['127.0.0.1', '::1'] };
  if (name === 'metadata.google.internal') return { addresses: ['169.254.169.254'] };
  if (name.startsWith('hanging-')) return null;
  const own = name.replace(/\.test$/, '');
  const addresses = RESOLVING[own] ?? METADATA[own];
  if (addresses) return { addresses };
  return own in BROKEN ? (BROKEN[own] ?? null) : { code: 3 };
}
