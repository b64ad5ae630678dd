import { expect, test } from '@jest/globals';
import { parseExactJson as read } from './exact-json.ts';
import { form } from './form.ts';
import { messagesOf, rules } from './validation.ts';

const noted = form({ metadata: rules.metadata().or({}) });

function refusedWith(metadata: unknown): object {
  const answer = noted({ metadata });
  return answer.ok ? { accepted: answer.value } : messagesOf(answer.refusal);
}

test('metadata keeps its keys and texts as they were given', () => {
  const metadata = read('{"order": " 1042 ", "__proto__": "x", "empty": ""}');
  const answer = noted({ metadata });
  expect(JSON.stringify(answer)).toBe(JSON.stringify({ ok: true, value: { metadata } }));
  const largest = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`${i + 10}${'k'.repeat(38)}`, i < 10 ? 'v'.repeat(500) : '']),
  );
  expect(noted({ metadata: largest })).toEqual({ ok: true, value: { metadata: largest } });
  expect(noted({ metadata: [] })).toEqual({ ok: true, value: { metadata: {} } });
  expect(noted({ metadata: null })).toEqual({ ok: true, value: { metadata: {} } });
});

test.each([
  ['a text', '"text"', { metadata: ['The metadata must be an object.'] }],
  ['a list', '["a"]', { metadata: ['The metadata must be an object.'] }],
  ['a number', '5', { metadata: ['The metadata must be an object.'] }],
  [
    'values that are no texts',
    '{"a":5,"b":null,"c":{},"d":"\\u0000"}',
    {
      'metadata.a': ['The metadata.a must be a string.'],
      'metadata.b': ['The metadata.b must be a string.'],
      'metadata.c': ['The metadata.c must be a string.'],
      'metadata.d': ['The metadata.d must be a string.'],
    },
  ],
  [
    'keys that are no texts',
    '{"":"a","\\ud800":"b"}',
    {
      metadata: ['The metadata key must be at least 1 characters.', 'The metadata key must be a string.'],
    },
  ],
  [
    'a long key and a long text',
    `{"${'k'.repeat(41)}":"a","v":"${'v'.repeat(501)}"}`,
    {
      metadata: ['The metadata key must not be greater than 40 characters.'],
      'metadata.v': ['The metadata.v must not be greater than 500 characters.'],
    },
  ],
  [
    'more than 8 kilobytes',
    `{${Array.from({ length: 17 }, (_, i) => `"${i}":"${'v'.repeat(500)}"`).join()}}`,
    { metadata: ['The metadata must not be greater than 8 kilobytes.'] },
  ],
  [
    '51 keys',
    `{${Array.from({ length: 51 }, (_, i) => `"${i}":"a"`).join()}}`,
    {
      metadata: ['The metadata must not have more than 50 items.'],
    },
  ],
])('metadata with %s is refused', (_name, json, errors) => {
  expect(refusedWith(read(json))).toEqual(errors);
});
