import fc from 'fast-check';
import { resolved, type Schema } from './document.ts';

const CHARACTERS_MAX = 40;

/** A value that a schema allows. */
export function arbitraryOf(given: Schema): fc.Arbitrary<unknown> {
  const schema = resolved(given);
  const { type, anyOf } = schema;
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(arbitraryOf));
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = [type ?? 'object'].flat() as string[];
  return fc.oneof(...types.map((one) => ofType(one, schema)));
}

function ofType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer(rangeOf(schema));
    case 'number':
      return fc.oneof(
        fc.integer({ min: 0, max: 1_000 }),
        fc.integer({ min: 0, max: 100_000 }).map((n) => n / 100),
      );
    case 'string':
      return textOf(schema);
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      });
    case 'object':
      return objectOf(schema);
    default:
      throw new Error(`the reference has the type ${type}, of which no values are generated`);
  }
}

/** Often near the limits. */
const rangeOf = ({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema) => ({
  min: Math.max(minimum, -(2 ** 31)),
  max: Math.min(maximum, 2 ** 31 - 1),
});

function textOf({
  pattern,
  format,
  minLength = 0,
  maxLength = CHARACTERS_MAX,
}: Schema): fc.Arbitrary<string> {
  if (format === 'uri') return fc.webUrl({ validSchemes: ['https'] });
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const size = { minLength, maxLength: Math.min(maxLength, CHARACTERS_MAX) };
  return fc.oneof(fc.string(size), fc.string({ ...size, unit: 'binary' }));
}

function objectOf({ properties, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? arbitraryOf(additionalProperties) : fc.string();
    return fc.dictionary(fc.string({ minLength: 1, maxLength: CHARACTERS_MAX }), value, { maxKeys: 5 });
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, arbitraryOf(field)]);
  return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [...required],
  });
}

/** What no field, or few, would take. */
export const wrongValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    '',
    ' ',
    true,
    [],
    {},
    [[]],
    { a: {} },
    -1,
    0,
    1e21,
    1e-9,
    '1e400',
    '-0',
    '0x10',
    'NaN',
  ),
  fc.constantFrom('\0', '\ud800', 'x'.repeat(3_000), '../../etc/passwd', "' or 1=1 --", '=1+1', '2026-13-45'),
  fc.jsonValue({ maxDepth: 2 }),
);
