/** A host in the notation of an attacker. */
export type Form = {
  host: string;
  /** It leads to this machine, so that a test without the guard reaches it. */
  loopback: boolean;
};

type Octets = readonly [number, number, number, number];

const loopbacks: Octets[] = [
  [127, 0, 0, 1],
  [127, 1, 2, 3],
  [0, 0, 0, 0],
];
const privates: Octets[] = [
  [10, 0, 0, 1],
  [172, 16, 0, 1],
  [192, 168, 1, 1],
  [169, 254, 169, 254],
  [100, 64, 0, 1],
  [192, 0, 0, 1],
  [192, 0, 2, 1],
  [198, 18, 0, 1],
  [224, 0, 0, 1],
  [240, 0, 0, 1],
  [255, 255, 255, 255],
];

const octal = (n: number) => `0${n.toString(8)}`;
const hex = (n: number) => `0x${n.toString(16)}`;
const wide = (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + digit.charCodeAt(0) - 48));
const circled = (text: string) =>
  text.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + digit.charCodeAt(0) - 49));
const superscript = (text: string) => text.replaceAll('1', '¹').replaceAll('2', '²').replaceAll('3', '³');
/** Digits of mathematical alphabets, which a URL turns into plain ones. */
const styled = (text: string, zero: number) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + digit.charCodeAt(0) - 48));
const percent = (text: string) => text.replace(/[0-9.]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);

/** The notations of an IPv4 address. */
export function v4Forms([a, b, c, d]: Octets): string[] {
  const plain = [a, b, c, d].join('.');
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  return [
    plain,
    `${plain}.`,
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map((n) => `000${n.toString(8)}`).join('.'),
    [a, b, c, d].map(hex).join('.'),
    [a, b, c, d].map((n) => hex(n).toUpperCase()).join('.'),
    [hex(a), octal(b), c, hex(d)].join('.'),
    [a, octal(b), hex(c), d].join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${hex(a)}.${hex((b * 256 + c) * 256 + d)}`,
    String(whole),
    `${whole}.`,
    hex(whole),
    octal(whole),
    percent(plain),
    plain.replaceAll('.', '%2e'),
    plain.replaceAll('.', '。'),
    plain.replaceAll('.', '．'),
    plain.replaceAll('.', '｡'),
    wide(plain),
    circled(plain),
    superscript(plain),
    `me@${plain}`,
    `me:secret@${plain}`,
    `example.com%40@${plain}`,
    `example.com:443%2f@${plain}`,
    `${plain}..`,
    `.${plain}`,
    ...[0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x2080, 0x0660].map((zero) => styled(plain, zero)),
    // A URL drops these characters, or the rules of international names do.
    ...['\t', '\n', '\r', '\u00ad', '\u200b', '\u2060', '\ufe0f', '%c2%ad'].map((one) =>
      plain.replace('.', `${one}.`),
    ),
    ...['%00', '\\', '%5c', '%20', '%23', '%3f', '%2f'].map((one) => `${plain}${one}.example.com`),
  ];
}

const group = (high: number, low: number) => (high * 256 + low).toString(16);

/** The notations of an IPv4 address within an IPv6 address. */
export function v4InV6([a, b, c, d]: Octets): string[] {
  const [high, low] = [group(a, b), group(c, d)];
  return [
    `::ffff:${a}.${b}.${c}.${d}`,
    `::FFFF:${high}:${low}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `0000:0000:0000:0000:0000:ffff:${high}:${low}`,
    `::${a}.${b}.${c}.${d}`,
    `::${high}:${low}`,
    `::ffff:0:${a}.${b}.${c}.${d}`,
    `64:ff9b::${a}.${b}.${c}.${d}`,
    `64:ff9b:1::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::1`,
    `2001::5efe:${high}:${low}`,
    `fe80::5efe:${high}:${low}`,
    `64:ff9b::${high}:${low}`,
    `0064:ff9b:0000:0000:0000:0000:${high}:${low}`,
    `2002:${high}:${low}:${high}:${low}::`,
    // Teredo has the client's address in its last 32 bits, inverted.
    `2001:0:4136:e378:8000:63bf:${group(255 - a, 255 - b)}:${group(255 - c, 255 - d)}`,
    `2001:db8::${a}.${b}.${c}.${d}`,
    `fec0::${a}.${b}.${c}.${d}`,
    `::ffff:${a}.${b}.${c}.${d}%25lo`,
  ];
}

const v6Loopbacks = [
  '::1',
  '0:0:0:0:0:0:0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '::0001',
  '0::1',
  '::0:1',
  '0:0::0:1',
  '::0.0.0.1',
];
const v6Privates = [
  ...['::', '0:0:0:0:0:0:0:0', 'fc00::1', 'fd00:ec2::254', 'fdff:ffff::1', 'fe80::1', 'FE80::1', 'febf::1'],
  ...['fe80::1%25lo', 'fe80::1%25eth0', '::1%25lo', 'fec0::1', 'feff::1', 'ff01::1', 'ff02::1', 'ff05::2'],
  ...[
    '2001:db8::1',
    '3fff::1',
    '100::1',
    '5f00::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '4000::1',
  ],
];

const localNames = [
  ...['localhost', 'LOCALHOST', 'LocalHost', 'localhost.', 'loc%61lhost', '%6c%6f%63%61%6c%68%6f%73%74'],
  ...[
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'ｌｏｃａｌｈｏｓｔ',
    'lo\u00adcalhost',
    'me@localhost',
    'example.com%40@localhost',
    'localho\u017ft',
  ],
];
const innerNames = [
  ...[
    'a.localhost',
    'a.b.localhost.',
    'localhost.localdomain',
    'printer.local',
    'db.internal',
    'nas.home.arpa',
  ],
  ...[
    'metadata.google.internal',
    'metadata',
    'router',
    'kubernetes.default.svc.cluster.local',
    'x.onion',
    'x.invalid',
  ],
];

export const inBrackets = (address: string) => `[${address}]`;

/** IP literals and names of this machine and of networks that are not public, in all known notations. */
export const forms: Form[] = [
  ...loopbacks.flatMap((octets) => [
    ...v4Forms(octets).map((host) => ({ host, loopback: true })),
    ...v4InV6(octets).map((address, i) => ({ host: inBrackets(address), loopback: i < 4 })),
  ]),
  ...privates.flatMap((octets) =>
    [...v4Forms(octets), ...v4InV6(octets).map(inBrackets)].map((host) => ({ host, loopback: false })),
  ),
  ...v6Loopbacks.map((address) => ({ host: inBrackets(address), loopback: true })),
  ...v6Privates.map((address) => ({ host: inBrackets(address), loopback: false })),
  ...localNames.map((host) => ({ host, loopback: true })),
  ...innerNames.map((host) => ({ host, loopback: false })),
];

/** Treated as public by the tests, so that no real host is called, even when the guard fails. */
export const PUBLIC = '127.0.0.2';

/** The addresses of names of the test's DNS server. The names themselves do not show them. */
export const names: Record<string, { addresses: string[]; alias?: string }> = {
  'private.test': { addresses: ['127.0.0.1'] },
  'private6.test': { addresses: ['::1'] },
  'both.test': { addresses: ['127.0.0.1', '::1'] },
  'mapped.test': { addresses: ['::ffff:127.0.0.1'] },
  'compatible.test': { addresses: ['::127.0.0.1'] },
  'nat64.test': { addresses: ['64:ff9b::127.0.0.1'] },
  '6to4.test': { addresses: ['2002:7f00:1::1'] },
  'unspecified.test': { addresses: ['0.0.0.0'] },
  'unspecified6.test': { addresses: ['::'] },
  'metadata.test': { addresses: ['169.254.169.254'] },
  'ula.test': { addresses: ['fd00::1'] },
  'linklocal.test': { addresses: ['fe80::1'] },
  'mixed.test': { addresses: [PUBLIC, '127.0.0.1'] },
  'mixed-last.test': { addresses: [PUBLIC, PUBLIC, PUBLIC, '127.0.0.1'] },
  'mixed-first.test': { addresses: ['127.0.0.1', PUBLIC] },
  'mixed6.test': { addresses: [PUBLIC, '::1'] },
  'mixed-mapped.test': { addresses: [PUBLIC, '::ffff:127.0.0.1'] },
  'nat64-mixed.test': { addresses: [PUBLIC, '64:ff9b::7f00:1'] },
  '6to4-mixed.test': { addresses: [PUBLIC, '2002:7f00:1::1'] },
  'teredo.test': { addresses: ['2001:0:4136:e378:8000:63bf:80ff:fffe'] },
  'teredo-mixed.test': { addresses: [PUBLIC, '2001:0:4136:e378:8000:63bf:80ff:fffe'] },
  'shared-space.test': { addresses: ['100.64.0.1'] },
  'benchmark.test': { addresses: ['198.18.0.1'] },
  'multicast.test': { addresses: ['224.0.0.1'] },
  'broadcast.test': { addresses: ['255.255.255.255'] },
  'documentation6.test': { addresses: ['2001:db8::1'] },
  'alias.test': { addresses: ['127.0.0.1'], alias: 'private.test' },
  'alias-far.test': { addresses: ['10.0.0.1'], alias: 'shop.example.com' },
  'alias-local.test': { addresses: ['127.0.0.1'], alias: 'localhost' },
  '127.0.0.1.sslip.test': { addresses: ['127.0.0.1'] },
  'localhost.shop.test': { addresses: ['127.0.0.1'] },
};
