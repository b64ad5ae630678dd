import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ExactNumber, parseExactJson, readRequestBody } from './exact-json.ts';
import { BODY_BYTES_MAX } from './identity.ts';
import { UnreadableBody } from './json-problem.ts';

/** A string with its escapes, or the source of a number, or a bare word. */
type Scalar = { source: string; means: unknown };
type Member = { key: Scalar; value: Tree };
type Tree = Scalar | Tree[] | { members: Member[] };

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
/** Few texts, so that keys often meet, each in two ways of writing it. */
const texts = ['a', 'b', '', '__proto__', 'constructor', '"', '\\', '\\u0061', 'é', '😀', ', {}[]:'] as const;
const string: fc.Arbitrary<Scalar> = fc
  .tuple(fc.oneof(fc.constantFrom(...texts), fc.string({ unit: 'binary' })), fc.boolean())
  .map(([text, asEscapes]) => ({
    source: asEscapes ? `"${text.split('').map(escaped).join('')}"` : JSON.stringify(text),
    means: text,
  }));
const number = fc
  .stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][+-]?\d{1,3})?$/)
  .map((source) => ({ source, means: new ExactNumber(source) }));
const word = fc.constantFrom(true, false, null).map((means) => ({ source: String(means), means }));

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(string, number, word),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc
      .array(fc.record({ key: string, value: tie('tree') }), { maxLength: 4 })
      .map((members) => ({ members })),
  ),
}));

function written(tree: Tree, space: string): string {
  if (Array.isArray(tree)) return `[${tree.map((one) => space + written(one, space) + space).join()}]`;
  if ('source' in tree) return tree.source;
  const members = tree.members.map(({ key, value }) =>
    [key.source, written(value, space)].map((part) => space + part + space).join(':'),
  );
  return `{${members.join()}}`;
}

/** What the text means, with `repeats` for an object that has a key twice. */
function meaning(tree: Tree, repeats: () => void): unknown {
  if (Array.isArray(tree)) return tree.map((one) => meaning(one, repeats));
  if ('source' in tree) return tree.means;
  const members = tree.members.map(({ key, value }) => [key.means, meaning(value, repeats)] as const);
  if (new Set(members.map(([key]) => key)).size < members.length) repeats();
  return Object.fromEntries(members);
}

test('a body means what it says, unless an object has a key twice', () => {
  const counts = { read: 0, refused: 0 };
  fc.assert(
    fc.property(tree, fc.constantFrom('', ' ', '\r\n\t'), (tree, space) => {
      const text = written(tree, space);
      expect(() => JSON.parse(text)).not.toThrow();
      let repeated = false;
      const expected = meaning(tree, () => {
        repeated = true;
      });
      expect(isDeepStrictEqual(parseExactJson(text), repeated ? undefined : expected)).toBe(true);
      counts[repeated ? 'refused' : 'read'] += 1;
    }),
    { numRuns: 1_000 },
  );
  // About six in a hundred repeat a key: fewer than ten in a thousand does not come by chance.
  expect(Math.min(counts.read, counts.refused)).toBeGreaterThanOrEqual(10);
});

const hintOf = (text: string) => {
  const read = readRequestBody(Buffer.from(text));
  return read instanceof UnreadableBody ? read.hint : 'read';
};
const twice = (line: number, column: number) =>
  `The body has a key twice in one object: line ${line}, column ${column}.`;
const unended = "The body is not valid JSON: line 1, column 13: Expected ',' or '}' after property value.";

test.each([
  ['{"amount":1,"amount":1}', twice(1, 13)],
  ['{"amount":1,\n "\\u0061mount":2}', twice(2, 2)],
  ['{"payouts":[{"amount":1},{"amount":2,"asset":"ETH","amount":3}]}', twice(1, 52)],
  ['{"__proto__":1,"__proto__":2}', twice(1, 16)],
  ['{"a":{"a":{"a":1}},"b":["a","a"],"":"a"}', 'read'],
  ['{"a":1,"A":2," a":3,"\\u0000a":4}', 'read'],
  ['{"a":1,"a":2', unended],
  [`${'['.repeat(32)}${']'.repeat(32)}`, 'read'],
  [`${'['.repeat(33)}${']'.repeat(33)}`, 'The body is nested deeper than 32 levels.'],
])('of the body %s is said: %s', (text, hint) => {
  expect(hintOf(text)).toBe(hint);
});

test('a body of 30,000 levels is refused', () => {
  expect(hintOf('['.repeat(30_000) + ']'.repeat(30_000))).toContain('deeper than 32 levels');
});

test('a body that another client has sent does not change the keys of a later one', () => {
  parseExactJson('{"order":1,"\\\\":1}');
  expect(parseExactJson('{"order":"1","\\u00e9":"2"}')).toEqual({ order: '1', é: '2' });
});

test.each([
  ['many keys', `{${Array.from({ length: 4_000 }, (_, i) => `"key${i}":${i}`).join()}}`],
  ['keys with escapes', `{${Array.from({ length: 4_000 }, (_, i) => `"\\u0061${i}":0`).join()}}`],
  ['one text of escapes', `["${'\\n'.repeat(32_000)}"]`],
  ['many empty objects', `[${'{},'.repeat(20_000)}{}]`],
])('the largest body of %s is read in a moment', (_of, text) => {
  expect(text.length).toBeLessThan(BODY_BYTES_MAX);
  // Time of the processor: others may want it too.
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    expect(hintOf(text)).toBe('read');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  expect(times.sort((a, b) => a - b)[4]).toBeLessThan(100);
});
