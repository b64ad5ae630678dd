import { expect, test } from '@jest/globals';
import { type ExactJson, parseExactJson } from './exact-json.ts';
import { form, formPart, unknownFields } from './form.ts';
import { UnreadableBody } from './json-problem.ts';
import type { Result } from './result.ts';
import { type FieldErrors, hintOf, messagesOf, rules } from './validation.ts';

type AnyForm = (input: unknown) => Result<unknown, FieldErrors>;

/** The messages of a refused form, which hints accompany. */
function refusedBy(read: AnyForm, input: unknown): object {
  const answer = read(input);
  return answer.ok ? { accepted: answer.value } : messagesOf(answer.refusal);
}
const hintBy = (read: AnyForm, input: unknown): string | undefined => {
  const answer = read(input);
  return answer.ok ? undefined : hintOf(answer.refusal).hint;
};

const sale = form({
  asset: rules.text(10).required,
  amount: rules.number().required,
  expires_in: rules.integer(1, 120).optional,
  succeed_url: rules.url(40).optional,
  perPage: rules.integer(1, 100).or(10),
  status: rules.oneOf(['paid', 'pending']).optional,
});
const good = { asset: 'ETH', amount: '10' };
const read = (json: string): ExactJson => parseExactJson(json) as ExactJson;

test('texts are trimmed, an empty one is null, a missing one gets its default', () => {
  expect(sale({ asset: ' ETH ', amount: ' 10 ', expires_in: '', status: null })).toEqual({
    ok: true,
    value: { asset: 'ETH', amount: '10', expires_in: null, succeed_url: null, perPage: 10, status: null },
  });
});

test('a number keeps every digit it was written with', () => {
  const answer = sale(read('{"asset":"ETH","amount":1.000000000000000001,"expires_in":1.2e2}'));
  expect(answer).toMatchObject({ ok: true, value: { amount: '1.000000000000000001', expires_in: 120 } });
});

test.each([
  [{}, { asset: ['The asset field is required.'], amount: ['The amount field is required.'] }],
  [[good], { asset: ['The asset field is required.'], amount: ['The amount field is required.'] }],
  [{ ...good, asset: 5 }, { asset: ['The asset must be a string.'] }],
  [{ ...good, asset: 'a\0b' }, { asset: ['The asset must be a string.'] }],
  [{ ...good, asset: '\ud800' }, { asset: ['The asset must be a string.'] }],
  [{ ...good, asset: '12345678901' }, { asset: ['The asset must not be greater than 10 characters.'] }],
  [{ ...good, amount: true }, { amount: ['The amount must be a number.'] }],
  [{ ...good, amount: [1] }, { amount: ['The amount must be a number.'] }],
  [{ ...good, amount: 'ten' }, { amount: ['The amount must be a number.'] }],
  [read('{"asset":"ETH","amount":1e400}'), { amount: ['The amount must be a number.'] }],
  [{ ...good, expires_in: '0' }, { expires_in: ['The expires in must be at least 1.'] }],
  [{ ...good, expires_in: '121' }, { expires_in: ['The expires in must not be greater than 120.'] }],
  [{ ...good, expires_in: '1.5' }, { expires_in: ['The expires in must be an integer.'] }],
  [{ ...good, expires_in: '1e99999999999999999999' }, { expires_in: ['The expires in must be an integer.'] }],
  [
    { ...good, expires_in: '9'.repeat(300) },
    { expires_in: ['The expires in must not be greater than 120.'] },
  ],
  [{ ...good, expires_in: `-${'9'.repeat(30)}` }, { expires_in: ['The expires in must be at least 1.'] }],
  [
    read('{"asset":"ETH","amount":1,"expires_in":99999999999999999999}'),
    { expires_in: ['The expires in must not be greater than 120.'] },
  ],
  [
    { ...good, asset: ['ETH'], perPage: ['5'], status: ['paid'] },
    {
      asset: ['The asset must be a string.'],
      perPage: ['The per page must be an integer.'],
      status: ['The status must be a string.'],
    },
  ],
  [{ ...good, perPage: '101' }, { perPage: ['The per page must not be greater than 100.'] }],
  [
    { ...good, succeed_url: 'javascript:alert(1)' },
    { succeed_url: ['The succeed url must be a valid URL.'] },
  ],
  [{ ...good, succeed_url: 'nonsense' }, { succeed_url: ['The succeed url must be a valid URL.'] }],
  [{ ...good, status: 'odd' }, { status: ['The selected status is invalid.'] }],
])('%j is refused with the contract’s words', (input, errors) => {
  expect(refusedBy(sale, input)).toEqual(errors);
});

test('an emoji is one character', () => {
  expect(sale({ ...good, asset: '🙂'.repeat(10) })).toMatchObject({ ok: true });
});

test('JSON nested too deep, or none at all, is no input', () => {
  expect(parseExactJson('{"a":')).toBeUndefined();
  expect(parseExactJson(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)).toBeUndefined();
  expect(parseExactJson('{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\"["}')).toBeDefined();
});

const order = form({ sizes: rules.listOf(['s', 'm', 'l']).or(['m']) });

test('a list is read element by element, each counting once', () => {
  expect(order({ sizes: ['l', 's', 'l'] })).toEqual({ ok: true, value: { sizes: ['l', 's'] } });
  expect(order({})).toEqual({ ok: true, value: { sizes: ['m'] } });
});

test.each([
  ['m', { sizes: ['The sizes must be an array.'] }],
  [[], { sizes: ['The sizes must have at least 1 items.'] }],
  [['s', 's', 's', 's'], { sizes: ['The sizes must not have more than 3 items.'] }],
  [
    ['x', 's', 5],
    { 'sizes.0': ['The selected sizes.0 is invalid.'], 'sizes.2': ['The selected sizes.2 is invalid.'] },
  ],
])('the list %j is refused', (sizes, errors) => {
  expect(refusedBy(order, { sizes })).toEqual(errors);
});

const linked = form({ url: rules.url(60).required });

test.each([
  'http://shop.example',
  'HTTPS://shop.example/a?b=%20#c',
  'http://[::1]:8080/',
  'https://müller.example/ä',
])('%j is a URL', (url) => {
  expect(linked({ url })).toEqual({ ok: true, value: { url } });
});

test.each([
  'http:shop.example',
  'http:/shop.example',
  'https:///shop.example',
  'http:\\\\shop.example',
  'http://',
  'http://shop.example/a b',
  'http://shop.example/a\tb',
  'http://sh\nop.example',
  'http://shop.example/\u007f',
  'http://shop.example/\u00a0x',
  'ftp://shop.example',
  'http://shop.example:99999',
])('%j is no URL', (url) => {
  expect(refusedBy(linked, { url })).toEqual({ url: ['The url must be a valid URL.'] });
});

const since = form({ created_from: rules.date().required });

test.each([
  ['2026-02-28', '2026-02-28T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-07-01T12:30', '2026-07-01T12:30:00.000Z'],
  ['2026-07-01 12:30:15', '2026-07-01T12:30:15.000Z'],
  ['2026-07-01T12:30:15.5', '2026-07-01T12:30:15.500Z'],
  ['2026-07-01T12:30:15.123456Z', '2026-07-01T12:30:15.123Z'],
  ['2026-07-01T00:30:00+02:00', '2026-06-30T22:30:00.000Z'],
  ['2026-07-01T23:30:00-0130', '2026-07-02T01:00:00.000Z'],
])('the date %s is %s, whatever the machine’s zone', (given, instant) => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'America/St_Johns';
  try {
    expect(since({ created_from: given })).toEqual({ ok: true, value: { created_from: new Date(instant) } });
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

test.each([
  '2026-02-29',
  '2026-02-31',
  '2026-04-31T00:00:00+02:00',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '0000-01-01',
  '2026-1-1',
  '20260101',
  '01/02/2026',
  '2026-01-01T24:00',
  '2026-01-01T12:60',
  '2026-01-01T12',
  '2026-01-01Z',
  '2026-01-01 12:00 PST',
  '2026-01-01T12:00:00+25:00',
  'tomorrow',
  '1767225600',
])('%j is no date', (given) => {
  const errors = { created_from: ['The created from is not a valid date.'] };
  expect(refusedBy(since, { created_from: given })).toEqual(errors);
});

const active = form({ is_active: rules.boolean().required });

test.each([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
  ['"1"', true],
  ['"0"', false],
])('%s is %s', (json, value) => {
  expect(active(read(`{"is_active":${json}}`))).toEqual({ ok: true, value: { is_active: value } });
});

test.each(['"true"', '"yes"', '2', '1.0', '-1', '[]', '{}', '[true]'])('%s is no truth', (json) => {
  expect(refusedBy(active, read(`{"is_active":${json}}`))).toEqual({
    is_active: ['The is active field must be true or false.'],
  });
});

test.each([
  [{ ...good, amount: '$10' }, 'Give the number alone, without a currency: 10.5.'],
  [{ ...good, amount: '10 eur' }, 'Give the number alone, without a currency: 10.5.'],
  [{ ...good, amount: '1,50' }, 'Write the decimals after a point, and nothing between thousands: 1234.5.'],
  [{ ...good, amount: true }, 'Give a JSON number, such as 10.5.'],
  [read('{"asset":5,"amount":1}'), 'Put it in quotes: "5".'],
  [{ ...good, expires_in: '121' }, 'Give a number from 1 to 120.'],
  [{ ...good, asset: '12345678901' }, 'It has 11 characters: shorten it.'],
  [{ ...good, status: 'Paid' }, 'Did you mean paid? Valid: paid, pending.'],
  [{ ...good, status: 'gone' }, 'Valid: paid, pending.'],
  [{ ...good, success_url: 'x' }, 'Did you mean succeed_url?'],
  [{ ...good, per_page: 5 }, 'Did you mean perPage?'],
  [{ ...good, colour: 5 }, 'Known: asset, amount, expires_in, succeed_url, perPage, status.'],
  [
    { ...good, amount: 'ten', expires_in: 'x' },
    'amount: Give a number in digits, such as 10.5. expires_in: Give a whole number, such as 30.',
  ],
  [undefined, 'The body is empty: send a JSON object.'],
  [[good], 'The body is JSON, and no object: send a JSON object, such as {"name": "value"}.'],
  [new UnreadableBody('Line 3.'), 'Line 3.'],
])('the hint for %j says what to do', (input, hint) => {
  expect(hintBy(sale, input)).toBe(hint);
});

test('a missing choice names what there is, and a list that is too long does too', () => {
  const choice = form({ mode: rules.oneOf(['a', 'b']).required, expand: rules.listOf(['x']).optional });
  expect(hintBy(choice, {})).toBe('Valid: a, b.');
  expect(hintBy(choice, { mode: 'a', expand: ['x', 'y'] })).toBe('Name each value once. Valid: x.');
});

test('a list of a time that ends before it begins is refused', () => {
  const range = form({ created_from: rules.date().optional, created_to: rules.date().optional });
  const message = 'The created to must be a date after or equal to created from.';
  const [early, late] = ['2026-01-01', '2026-01-02'];
  expect(refusedBy(range, { created_from: late, created_to: early })).toEqual({ created_to: [message] });
  for (const given of [
    { created_from: late, created_to: late },
    { created_from: late },
    { created_to: early },
  ])
    expect(range(given).ok).toBe(true);
});

test('a Unix time is shown as the date it is', () => {
  expect(hintBy(since, { created_from: '1767225600' })).toBe('Give ISO 8601: 2026-01-01T00:00:00.000Z.');
  expect(hintBy(since, { created_from: '2026-02-31' })).toBe('There is no such day.');
});

test('a field that is not known is refused, also one that every object has', () => {
  expect(refusedBy(sale, { ...good, expires: 5 })).toEqual({ expires: ['The expires field is not known.'] });
  expect(refusedBy(order, read('{"__proto__":{"sizes":["s"]}}'))).toEqual(
    Object.fromEntries([['__proto__', ['The   proto   field is not known.']]]),
  );
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`x${i}`, 1]));
  expect(Object.keys(refusedBy(order, many))).toHaveLength(20);
});

test('a field has a hint of its own where it is often given, and others may read a part of the names', () => {
  const named = form({ a: rules.text(9).optional }, { alsoKnown: ['page'], hints: { currency: 'Dollars.' } });
  expect(hintBy(named, { currency: 'EUR', page: '2' })).toBe('Dollars.');
  expect(formPart({ a: rules.text(9).optional })({ b: 1 })).toEqual({ ok: true, value: { a: null } });
  expect(messagesOf(unknownFields({ a: 1, b: 1 }, ['a']))).toEqual({ b: ['The b field is not known.'] });
});

test('a body that cannot be read is never taken for a missing one', () => {
  expect(order(undefined)).toEqual({ ok: true, value: { sizes: ['m'] } });
  for (const input of [new UnreadableBody('Line 3.'), ['s'], 'text', null]) {
    expect(refusedBy(order, input)).toEqual({ body: ['The body must be a JSON object.'] });
  }
});
