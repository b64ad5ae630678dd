import { describe, expect, test } from '@jest/globals';
import { hostOf, isAllowedRedirect, isHttpsOrigin, type LogoProblem, logoProblem } from './shop.ts';

type Format = 'png' | 'jpeg' | 'webp';
/** How a file of each format begins, with a dot where any byte may be. */
const beginnings: readonly [Format, string][] = [
  ['png', '\x89PNG\r\n\x1a\n'],
  ['jpeg', '\xff\xd8\xff'],
  ['webp', 'RIFF....WEBP'],
];
const picture = (start: string) => Buffer.from(`${start}${'.'.repeat(40)}`, 'latin1');
const asDataUri = (format: string, bytes: Buffer) =>
  `data:image/${format};base64,${bytes.toString('base64')}`;
const PNG = asDataUri('png', picture('\x89PNG\r\n\x1a\n'));

describe('a picture', () => {
  test.each(beginnings)('is a logo when its bytes begin as a %s does, and it says so', (format, start) => {
    expect(logoProblem(asDataUri(format, picture(start)))).toBeUndefined();
  });

  test.each(beginnings)(
    'is no logo when its bytes begin as a %s does, and it says something else',
    (format, start) => {
      const others = beginnings.map(([other]) => other).filter((other) => other !== format);
      const problems = others.map((other) => logoProblem(asDataUri(other, picture(start))));
      expect(problems).toEqual(['other_format', 'other_format']);
    },
  );

  test.each(beginnings)('is no logo when one of the first bytes of a %s is another one', (format, start) => {
    for (const [index, sign] of [...start].entries()) {
      const bytes = picture(start);
      bytes[index] = sign.charCodeAt(0) ^ 1;
      expect([index, logoProblem(asDataUri(format, bytes))]).toEqual([
        index,
        sign === '.' ? undefined : 'other_format',
      ]);
    }
  });
});

/** One that has this many characters; a logo only where base64 can have as many. */
const ofLength = (length: number) => PNG.padEnd(length, 'A');
test.each<[string, string, LogoProblem | undefined]>([
  ['8,190 characters', ofLength(8_190), undefined],
  ['8,192 characters, which base64 never has', ofLength(8_192), 'no_data_uri'],
  ['8,193 characters', ofLength(8_193), 'too_large'],
  ['8,194 characters', ofLength(8_194), 'too_large'],
  ['nothing', '', 'no_data_uri'],
  ['no picture', 'data:image/png;base64,', 'no_data_uri'],
  ['another picture', asDataUri('svg+xml', Buffer.from('<svg/>')), 'no_data_uri'],
  ['a file of text', asDataUri('png', Buffer.from('<svg onload="alert(1)"/>')), 'other_format'],
  ['less than its format begins with', asDataUri('png', Buffer.from('\x89PNG', 'latin1')), 'other_format'],
  ['more than base64', `${PNG}" onerror="alert(1)`, 'no_data_uri'],
  ['something before it', ` ${PNG}`, 'no_data_uri'],
  ['bits that its bytes do not have', 'data:image/jpeg;base64,/9j/AB==', 'no_data_uri'],
  ['a URL', 'https://shop.example/logo.png', 'no_data_uri'],
])('a text that is or has %s is judged as a logo', (_, text, problem) => {
  expect(logoProblem(text)).toBe(problem);
});

test.each([
  ['shop.example', 'shop.example'],
  ['Shop.EXAMPLE', 'shop.example'],
  ['shop.example:8443', 'shop.example:8443'],
  ['shop.example:443', undefined],
  ['https://shop.example', undefined],
  ['shop.example/', undefined],
  ['shop.example/thanks', undefined],
  ['me@shop.example', undefined],
  ['shop example', undefined],
  ['shop.example:99999', undefined],
  ['', undefined],
])('the host that a shop names as "%s" is read as %p', (text, host) => {
  expect(hostOf(text)).toBe(host);
});

test.each([
  ['https://shop.example', true],
  ['https://shop.example:8443', true],
  ['https://shop.example:443', false],
  ['https://shop.example:99999', false],
  ['https://Shop.example', false],
  ['https://shop.example/', false],
  ['https://shop.example https://evil.example', false],
  ["https://shop.example;script-src'unsafe-inline'", false],
  ['https://*.example', false],
  ['https://*', false],
  ['http://shop.example', false],
  ['shop.example', false],
  ['', false],
])('whether %p may stand in a policy as an origin is %p', (text, isOrigin) => {
  expect(isHttpsOrigin(text)).toBe(isOrigin);
});

describe('customers', () => {
  const hosts = ['shop.example', 'www.shop.example:8443'];
  test.each([
    ['https://evil.example/thanks', [], true],
    ['https://shop.example/thanks', hosts, true],
    ['https://www.shop.example:8443/thanks?a=1#top', hosts, true],
    ['https://evil.example/shop.example', hosts, false],
    ['https://shop.example@evil.example', hosts, false],
    ['https://shop.example.evil.example/', hosts, false],
    ['https://a.shop.example/', hosts, false],
    ['https://shop.example:8443/', hosts, false],
    ['https://evil.example/', ['shop.example'], false],
  ])('may be sent to %s by a shop that names the hosts %j: %p', (url, named, isAllowed) => {
    expect(isAllowedRedirect(url, named)).toBe(isAllowed);
  });
});
