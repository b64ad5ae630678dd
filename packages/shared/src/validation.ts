import { z } from 'zod';
import { currencyCodes } from './currencies.ts';
import { ExactNumber } from './exact-json.ts';
import {
  isMetadata,
  isText,
  isTextList,
  maxCharacters,
  metadataSchema,
  type Rule,
  type Say,
  STOP,
  stop,
} from './field-rules.ts';
import { ISO_DATE_PATTERN, isoDateHint, readIsoDate } from './iso-date.ts';
import type { Metadata } from './metadata.ts';
import { plainDecimal } from './money.ts';
import { didYouMean } from './nearest.ts';

/** What is wrong with a field, in the contract's words, and what to do about it. */
export type FieldProblem = {
  message: string;
  hint?: string | undefined;
  /** The limit that a number breaks, for pages in other languages. */
  limit?: { rule: 'atLeast' | 'atMost' | 'decimals'; value: string };
};

/** Field name to its problems, in rule order. */
export type FieldErrors = Record<string, FieldProblem[]>;

/** The `errors` of a 422. */
export const messagesOf = (errors: FieldErrors): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(errors).map(([name, problems]) => [name, problems.map(({ message }) => message)]),
  );

/** The `hint` of a 422: what the problems say, each with its field where there are several. */
export function hintOf(errors: FieldErrors): { hint?: string } {
  const all = Object.entries(errors).flatMap(([name, problems]) =>
    problems.flatMap(({ hint }) => (hint === undefined ? [] : [{ name, hint }])),
  );
  const different = all.filter(({ hint }, i) => all.findIndex((one) => one.hint === hint) === i);
  const [first] = different;
  if (first === undefined) return {};
  if (different.length === 1) return { hint: first.hint };
  return { hint: different.map(({ name, hint }) => `${name}: ${hint}`).join(' ') };
}

/** Laravel's attribute: `expires_in` is "expires in", `perPage` is "per page". */
export const attributeOf = (field: string): string =>
  field.replace(/_/g, ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** One field of a form: a zod type that reads any input, adds Laravel's messages and yields the parsed value. */
export type Field<T> = (attribute: string) => z.ZodType<T>;

/** Trims texts; an empty one is null, like a missing field. */
const normalised = (input: unknown): unknown => {
  if (typeof input !== 'string') return input ?? null;
  const trimmed = input.trim();
  return trimmed === '' ? null : trimmed;
};

/** A problem as zod carries it through a form. */
export const issueOf = ({ message, hint }: FieldProblem, element?: number | string) =>
  ({
    code: 'custom',
    message,
    params: { hint },
    path: element === undefined ? [] : [element],
  }) as const;

type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null';
/** What a field takes, as JSON schema. */
type FieldSchema = { type: JsonType | JsonType[]; enum?: readonly (string | null)[] } & Record<
  string,
  unknown
>;
type Missing = { hint: string | undefined } | { otherwise: unknown };

/** The schema of a field: one that may be missing may be null as well, and an empty text counts as missing. */
function fieldSchema(schema: FieldSchema, missing: Missing): FieldSchema {
  if (!('otherwise' in missing)) {
    return schema.type === 'string' && schema.enum === undefined ? { minLength: 1, ...schema } : schema;
  }
  return {
    ...schema,
    type: [schema.type, 'null'].flat() as JsonType[],
    ...(schema.enum && { enum: [...schema.enum, null] }),
    // Not `default`: zod leaves that out where a value is transformed.
    ...(missing.otherwise !== null && { 'x-default': missing.otherwise }),
  };
}

function field<T>(schema: FieldSchema, rules: readonly Rule<never, unknown>[], missing: Missing): Field<T> {
  const documented = fieldSchema(schema, missing);
  const given = 'otherwise' in missing ? z.unknown().optional() : z.unknown();
  return (attribute) =>
    given
      .transform((input, context) => {
        let value: unknown = normalised(input);
        if (value === null) {
          if ('otherwise' in missing) return missing.otherwise as T;
          context.addIssue(issueOf({ message: `The ${attribute} field is required.`, hint: missing.hint }));
          return z.NEVER;
        }
        let failed = false;
        const say: Say = (message, hint, element) => {
          failed = true;
          context.addIssue(issueOf({ message, hint }, element));
        };
        for (const rule of rules as readonly Rule<unknown, unknown>[]) {
          value = rule(value, attribute, say);
          if (value === STOP) return z.NEVER;
        }
        return failed ? z.NEVER : (value as T);
      })
      .meta(documented);
}

/** A rule set ready to be made required or optional. */
export type Rules<T> = { required: Field<T>; optional: Field<T | null>; or<D>(otherwise: D): Field<T | D> };

const rulesOf = <T>(schema: FieldSchema, ...rules: Rule<never, unknown>[]): Rules<T> =>
  hintedRules(undefined, schema, ...rules);

/** @param hint what to say when a required field is missing */
const hintedRules = <T>(
  hint: string | undefined,
  schema: FieldSchema,
  ...rules: Rule<never, unknown>[]
): Rules<T> => ({
  required: field<T>(schema, rules, { hint }),
  optional: field<T | null>(schema, rules, { otherwise: null }),
  or: <D>(otherwise: D) => field<T | D>(schema, rules, { otherwise }),
});

/** What was written: of a JSON number its text. */
const sourceOf = (value: unknown): unknown => (value instanceof ExactNumber ? value.source : value);

/** A number's plain decimal text, from a JSON number or a numeric text. */
function decimalOf(value: unknown): string | undefined {
  const source = sourceOf(value);
  return typeof source === 'string' ? plainDecimal(source) : undefined;
}

const isNumber: Rule<unknown, string> = (value, attribute, say) =>
  decimalOf(value) ?? stop(say, `The ${attribute} must be a number.`, numberHint(value));

const currencySign = new RegExp(`\\p{Sc}|${currencyCodes.join('|')}`, 'iu');

function numberHint(value: unknown): string {
  if (value instanceof ExactNumber) return 'The number is too long.';
  if (typeof value !== 'string') return 'Give a JSON number, such as 10.5.';
  if (currencySign.test(value)) return 'Give the number alone, without a currency: 10.5.';
  if (value.includes(',')) return 'Write the decimals after a point, and nothing between thousands: 1234.5.';
  return 'Give a number in digits, such as 10.5.';
}

const isInteger: Rule<unknown, bigint> = (value, attribute, say) => {
  const source = sourceOf(value);
  // Digits alone are an integer, however many: too many of them are above the field's limit.
  const text = typeof source === 'string' && /^-?\d+$/.test(source) ? source : decimalOf(value);
  return text === undefined || text.includes('.')
    ? stop(say, `The ${attribute} must be an integer.`, 'Give a whole number, such as 30.')
    : BigInt(text);
};

const between =
  (min: number, max: number): Rule<bigint, number> =>
  (value, attribute, say) => {
    const hint = `Give a number from ${min} to ${max}.`;
    if (value < min) say(`The ${attribute} must be at least ${min}.`, hint);
    if (value > max) say(`The ${attribute} must not be greater than ${max}.`, hint);
    // eslint-disable-next-line no-restricted-syntax -- an integer within the field's own limits
    return Number(value);
  };

/** Stricter than URL, which mends what browsers mend: `http:shop`, tabs, line ends. */
const isUrl: Rule<string, string> = (value, attribute, say) => {
  if (/^https?:\/\/[^\s\p{Cc}/\\?#][^\s\p{Cc}]*$/iu.test(value) && URL.canParse(value)) return value;
  const { message, hint } = messages.url(attribute);
  return stop(say, message, hint);
};

const isOneOf =
  <T extends string>(allowed: readonly T[]): Rule<string, T> =>
  (value, attribute, say) =>
    allowed.find((one) => one === value) ??
    stop(say, `The selected ${attribute} is invalid.`, choiceHint(value, allowed));

/** The nearest of the valid values, and all of them. */
function choiceHint(value: unknown, allowed: readonly string[]): string {
  const near = typeof value === 'string' ? didYouMean(value, allowed) : undefined;
  return [...(near === undefined ? [] : [near]), validOf(allowed)].join(' ');
}

const validOf = (allowed: readonly string[]): string => `Valid: ${allowed.join(', ') || 'none now'}.`;

/** Each element is one of `allowed`, and counts once. */
const isListOf =
  <T extends string>(allowed: readonly T[]): Rule<unknown, T[]> =>
  (value, attribute, say) => {
    const example = `Give an array, such as ["${allowed[0] ?? ''}"].`;
    if (!Array.isArray(value)) return stop(say, `The ${attribute} must be an array.`, example);
    if (value.length === 0) return stop(say, `The ${attribute} must have at least 1 items.`, example);
    if (value.length > allowed.length) {
      const hint = `Name each value once. ${validOf(allowed)}`;
      return stop(say, `The ${attribute} must not have more than ${allowed.length} items.`, hint);
    }
    for (const [index, element] of value.entries()) {
      if (allowed.includes(element)) continue;
      say(`The selected ${attribute}.${index} is invalid.`, choiceHint(element, allowed), index);
    }
    return [...new Set(value as T[])];
  };

/** What Laravel takes for a truth: JSON's own, and 1 and 0 as numbers or texts. */
const isBoolean: Rule<unknown, boolean> = (value, attribute, say) => {
  const given = sourceOf(value);
  if (given === true || given === '1') return true;
  if (given === false || given === '0') return false;
  return stop(say, `The ${attribute} field must be true or false.`, 'Give true or false, without quotes.');
};

const isDate: Rule<string, Date> = (value, attribute, say) =>
  readIsoDate(value) ?? stop(say, `The ${attribute} is not a valid date.`, isoDateHint(value));

/** The rules of this API, in Laravel 8's words, each with what it takes as JSON schema. */
export const rules = {
  text: (max: number): Rules<string> =>
    rulesOf({ type: 'string', maxLength: max }, isText, maxCharacters(max)),
  url: (max: number): Rules<string> =>
    rulesOf(
      { type: 'string', format: 'uri', pattern: '^https?://', maxLength: max },
      ...[isText, isUrl, maxCharacters(max)],
    ),
  /** An exact amount, as plain decimal text; its limits depend on the asset and are judged by the caller. */
  number: (): Rules<string> =>
    rulesOf({ type: ['number', 'string'], minimum: 0, pattern: '^\\d+(\\.\\d+)?$' }, isNumber),
  integer: (min: number, max: number): Rules<number> =>
    rulesOf({ type: 'integer', minimum: min, maximum: max }, isInteger, between(min, max)),
  oneOf: <T extends string>(allowed: readonly T[]): Rules<T> =>
    hintedRules(validOf(allowed), { type: 'string', enum: allowed }, isText, isOneOf(allowed)),
  listOf: <T extends string>(allowed: readonly T[]): Rules<T[]> => {
    const items = { type: 'string', enum: allowed };
    return rulesOf({ type: 'array', items, minItems: 1, maxItems: allowed.length }, isListOf(allowed));
  },
  textList: (itemsMax: number, example: string, itemsMin = 1): Rules<string[]> => {
    const items = { type: 'string', minLength: 1 };
    return rulesOf(
      { type: 'array', items, minItems: itemsMin, maxItems: itemsMax },
      isTextList(itemsMax, example, itemsMin),
    );
  },
  metadata: (): Rules<Metadata> => rulesOf(metadataSchema, isMetadata),
  boolean: (): Rules<boolean> => rulesOf({ type: 'boolean' }, isBoolean),
  date: (): Rules<Date> => rulesOf({ type: 'string', pattern: ISO_DATE_PATTERN }, isText, isDate),
};

export const messages = {
  atLeast: (field: string, min: string, hint = `Give ${min} or more.`): FieldProblem => ({
    message: `The ${attributeOf(field)} must be at least ${min}.`,
    hint,
    limit: { rule: 'atLeast', value: min },
  }),
  atMost: (field: string, max: string, hint = `Give ${max} or less.`): FieldProblem => ({
    message: `The ${attributeOf(field)} must not be greater than ${max}.`,
    hint,
    limit: { rule: 'atMost', value: max },
  }),
  decimals: (field: string, places: number): FieldProblem => ({
    message: `The ${attributeOf(field)} must not have more than ${places} decimal places.`,
    hint: `Amounts are never rounded here: round it to ${places} decimal places.`,
    limit: { rule: 'decimals', value: String(places) },
  }),
  invalid: (field: string, hint?: string): FieldProblem => ({
    message: `The selected ${attributeOf(field)} is invalid.`,
    hint,
  }),
  url: (field: string): FieldProblem => ({
    message: `The ${attributeOf(field)} must be a valid URL.`,
    hint: 'Give the whole URL with http:// or https:// and without spaces, such as https://shop.example/thanks.',
  }),
};
