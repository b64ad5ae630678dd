import { z } from 'zod';
import { currencyCodes } from './currencies.ts';
import { ExactNumber, fieldsOf } from './exact-json.ts';
import { isoDateHint, readIsoDate } from './iso-date.ts';
import type { Metadata } from './metadata.ts';
import { plainDecimal } from './money.ts';
import { didYouMean } from './nearest.ts';

/** What is wrong with a field, in the contract's words, and what to do about it. */
export type FieldProblem = { message: string; hint?: string | undefined };

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

/** Says what is wrong with a field, or with an element of its list or object. */
type Say = (message: string, hint?: string, element?: number | string) => void;
/** Ends the field: a text that is no number cannot be too small. */
const STOP: unique symbol = Symbol('stop');
/** Looks at a value that the rules before it have passed, and returns what the next one looks at. */
type Rule<In, Out> = (value: In, attribute: string, say: Say) => Out | typeof STOP;

function stop(say: Say, message: string, hint?: string): typeof STOP {
  say(message, hint);
  return STOP;
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

function field<T>(
  rules: readonly Rule<never, unknown>[],
  missing: { hint: string | undefined } | { otherwise: unknown },
): Field<T> {
  return (attribute) =>
    z.unknown().transform((input, context) => {
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
    });
}

/** A rule set ready to be made required or optional. */
export type Rules<T> = { required: Field<T>; optional: Field<T | null>; or<D>(otherwise: D): Field<T | D> };

const rulesOf = <T>(...rules: Rule<never, unknown>[]): Rules<T> => hintedRules(undefined, ...rules);

/** @param hint what to say when a required field is missing */
const hintedRules = <T>(hint: string | undefined, ...rules: Rule<never, unknown>[]): Rules<T> => ({
  required: field<T>(rules, { hint }),
  optional: field<T | null>(rules, { otherwise: null }),
  or: <D>(otherwise: D) => field<T | D>(rules, { otherwise }),
});

const isText: Rule<unknown, string> = (value, attribute, say) =>
  // NUL cannot be stored, a lone surrogate is no text.
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
    ? value
    : stop(say, `The ${attribute} must be a string.`, textHint(value));

function textHint(value: unknown): string {
  if (value instanceof ExactNumber) return `Put it in quotes: "${value.source}".`;
  if (typeof value === 'string')
    return 'Leave out characters that cannot be stored: NUL and lone surrogates.';
  return 'Give a text in quotes.';
}

/** Characters are counted as people count them: an emoji of two code units is one. */
const maxCharacters =
  (max: number): Rule<string, string> =>
  (value, attribute, say) => {
    const { length } = [...value];
    if (length > max) {
      say(
        `The ${attribute} must not be greater than ${max} characters.`,
        `It has ${length} characters: shorten it.`,
      );
    }
    return value;
  };

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

const METADATA_KEYS_MAX = 50;
const METADATA_KEY_CHARACTERS_MAX = 40;
const METADATA_VALUE_CHARACTERS_MAX = 500;
/** All of it as JSON. It is in every event and list item, of which an answer has hundreds. */
const METADATA_BYTES_MAX = 8_192;

/** Keys and values are kept as they were given: only the limits are checked. */
const isMetadata: Rule<unknown, Metadata> = (value, attribute, say) => {
  const given = fieldsOf(value);
  if (given === undefined) {
    return stop(
      say,
      `The ${attribute} must be an object.`,
      'Give an object of texts, such as {"order": "1042"}.',
    );
  }
  const entries = Object.entries(given);
  if (entries.length > METADATA_KEYS_MAX) {
    const hint = `It has ${entries.length} keys.`;
    return stop(say, `The ${attribute} must not have more than ${METADATA_KEYS_MAX} items.`, hint);
  }
  const isKey = maxCharacters(METADATA_KEY_CHARACTERS_MAX);
  const isValue = maxCharacters(METADATA_VALUE_CHARACTERS_MAX);
  for (const [key, text] of entries) {
    const ofKey = `${attribute} key`;
    if (key === '') say(`The ${ofKey} must be at least 1 characters.`, 'Give each text a key.');
    else if (isText(key, ofKey, say) !== STOP) isKey(key, ofKey, say);
    const about = [...key].slice(0, METADATA_KEY_CHARACTERS_MAX).join('');
    const sayOfKey: Say = (message, hint) => say(message, hint, about);
    const ofValue = `${attribute}.${about}`;
    if (isText(text, ofValue, sayOfKey) !== STOP) isValue(text as string, ofValue, sayOfKey);
  }
  if (Buffer.byteLength(JSON.stringify(given)) > METADATA_BYTES_MAX)
    say(
      `The ${attribute} must not be greater than 8 kilobytes.`,
      'Keep what is long on your side, by its id.',
    );
  return given as Metadata;
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

/** The rules of this API, in Laravel 8's words. */
export const rules = {
  text: (max: number): Rules<string> => rulesOf(isText, maxCharacters(max)),
  url: (max: number): Rules<string> => rulesOf(isText, isUrl, maxCharacters(max)),
  /** An exact amount, as plain decimal text; its limits depend on the asset and are judged by the caller. */
  number: (): Rules<string> => rulesOf(isNumber),
  integer: (min: number, max: number): Rules<number> => rulesOf(isInteger, between(min, max)),
  oneOf: <T extends string>(allowed: readonly T[]): Rules<T> =>
    hintedRules(validOf(allowed), isText, isOneOf(allowed)),
  listOf: <T extends string>(allowed: readonly T[]): Rules<T[]> => rulesOf(isListOf(allowed)),
  metadata: (): Rules<Metadata> => rulesOf(isMetadata),
  boolean: (): Rules<boolean> => rulesOf(isBoolean),
  date: (): Rules<Date> => rulesOf(isText, isDate),
};

export const messages = {
  atLeast: (field: string, min: string, hint = `Give ${min} or more.`): FieldProblem => ({
    message: `The ${attributeOf(field)} must be at least ${min}.`,
    hint,
  }),
  atMost: (field: string, max: string, hint = `Give ${max} or less.`): FieldProblem => ({
    message: `The ${attributeOf(field)} must not be greater than ${max}.`,
    hint,
  }),
  decimals: (field: string, places: number): FieldProblem => ({
    message: `The ${attributeOf(field)} must not have more than ${places} decimal places.`,
    hint: `Amounts are never rounded here: round it to ${places} decimal places.`,
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
