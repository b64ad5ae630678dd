import { expect, test } from '@jest/globals';
import { parseExactJson } from '@quittance/shared/exact-json';
import { form } from '@quittance/shared/form';
import { rules } from '@quittance/shared/validation';
import { assertProperty } from '@quittance/testkit/assert-property';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { schemaOf } from './openapi/json-schema.ts';

/** The JSON schema of a rule, against the rule: what the reference allows is never refused for its form. */

const choices = ['paid', 'expired'] as const;
const given = {
  text: rules.text(5),
  url: rules.url(40),
  number: rules.number(),
  integer: rules.integer(1, 120),
  oneOf: rules.oneOf(choices),
  listOf: rules.listOf(choices),
  metadata: rules.metadata(),
  boolean: rules.boolean(),
  date: rules.date(),
};

const number = fc.oneof(
  fc.integer({ min: -5, max: 130 }),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((n) => n / 1_000),
);
const choice = fc.constantFrom(...choices, 'PAID');
const value = fc.oneof(
  fc.string({ maxLength: 7 }),
  number,
  number.map(String),
  fc.boolean(),
  choice,
  fc.array(choice, { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 42 }), fc.oneof(fc.string(), number), { maxKeys: 3 }),
  fc.webUrl(),
  fc
    .date({ noInvalidDate: true, min: new Date('0001-01-01'), max: new Date('9999-01-01') })
    .map((date) => date.toISOString()),
  fc.stringMatching(/^20\d\d-[01]\d-[0-3]\d( [012]\d:[0-5]\d)?$/),
  fc.constant(null),
);

const ajv = new Ajv2020({ strict: false, formats: { uri: true } });

/** Texts of which a schema cannot say that they are refused: blank ones, what is no day, what is no URL. */
const isBeyondSchemas = (name: string, one: unknown): boolean =>
  typeof one === 'string' &&
  (one.trim() === '' ||
    (name === 'date' && Number.isNaN(Date.parse(one.replace(' ', 'T')))) ||
    (name === 'date' &&
      !one.startsWith(new Date(Date.parse(`${one.slice(0, 10)}T00:00Z`)).toISOString().slice(0, 10))) ||
    (name === 'url' && !URL.canParse(one)));

test.each(
  Object.entries(given).flatMap(([name, rule]) => [
    [`required ${name}`, name, rule.required] as const,
    [`optional ${name}`, name, rule.optional] as const,
  ]),
)('a %s that its JSON schema allows is read', async (_, name, field) => {
  const read = form<Record<string, typeof field>>({ field });
  const allows = ajv.compile(schemaOf(read.schema, {}));
  let allowed = 0;
  await assertProperty(
    fc.property(value, (one) => {
      const body = { field: one };
      if (!allows(body) || isBeyondSchemas(name, one)) return;
      allowed += 1;
      expect({ one, ...read(parseExactJson(JSON.stringify(body))) }).toMatchObject({ one, ok: true });
    }),
    { least: 2_000, most: 2_000 },
  );
  expect(allowed).toBeGreaterThan(10);
});

test('a field that may be missing may be null, and is not required', () => {
  const read = form({ one: rules.text(3).required, other: rules.integer(1, 9).or(5) });
  const allows = ajv.compile(schemaOf(read.schema, {}));
  expect(schemaOf(read.schema, {})).toEqual({
    type: 'object',
    properties: {
      one: { type: 'string', minLength: 1, maxLength: 3 },
      other: { type: ['integer', 'null'], minimum: 1, maximum: 9, default: 5 },
    },
    required: ['one'],
  });
  expect([{ one: 'a' }, { one: 'a', other: null }].map((body) => allows(body))).toEqual([true, true]);
  expect([{}, { one: null }, { one: 'abcd' }].map((body) => allows(body))).toEqual([false, false, false]);
});
