import { z } from 'zod';
import { ExactNumber } from './exact-json.ts';
import { plainDecimal } from './money.ts';
import { ok, type Result, refuse } from './result.ts';

/** Field name to its messages, in rule order: the `errors` of a 422. */
export type FieldErrors = Record<string, string[]>;

/** Says what is wrong with a field, or with an element of its list. */
type Say = (message: string, element?: number) => void;
/** Ends the field: a text that is no number cannot be too small. */
const STOP: unique symbol = Symbol('stop');
/** Looks at a value that the rules before it have passed, and returns what the next one looks at. */
type Rule<In, Out> = (value: In, attribute: string, say: Say) => Out | typeof STOP;

function stop(say: Say, message: string): typeof STOP {
  say(message);
  return STOP;
}

/** Laravel's attribute: `expires_in` is "expires in", `perPage` is "per page". */
const attributeOf = (field: string): string =>
  field.replace(/_/g, ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** One field of a form: a zod type that reads any input, adds Laravel's messages and yields the parsed value. */
export type Field<T> = (attribute: string) => z.ZodType<T>;

/** Trims texts; an empty one is null, like a missing field. */
const normalised = (input: unknown): unknown => {
  if (typeof input !== 'string') return input ?? null;
  const trimmed = input.trim();
  return trimmed === '' ? null : trimmed;
};

function field<T>(
  rules: readonly Rule<never, unknown>[],
  missing: { required: true } | { otherwise: unknown },
): Field<T> {
  return (attribute) =>
    z.unknown().transform((input, context) => {
      let value: unknown = normalised(input);
      if (value === null) {
        if ('otherwise' in missing) return missing.otherwise as T;
        context.addIssue({ code: 'custom', message: `The ${attribute} field is required.` });
        return z.NEVER;
      }
      let failed = false;
      const say: Say = (message, element) => {
        failed = true;
        context.addIssue({ code: 'custom', message, path: element === undefined ? [] : [element] });
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

const rulesOf = <T>(...rules: Rule<never, unknown>[]): Rules<T> => ({
  required: field<T>(rules, { required: true }),
  optional: field<T | null>(rules, { otherwise: null }),
  or: <D>(otherwise: D) => field<T | D>(rules, { otherwise }),
});

const isText: Rule<unknown, string> = (value, attribute, say) =>
  // NUL cannot be stored, a lone surrogate is no text.
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
    ? value
    : stop(say, `The ${attribute} must be a string.`);

/** Characters are counted as people count them: an emoji of two code units is one. */
const maxCharacters =
  (max: number): Rule<string, string> =>
  (value, attribute, say) => {
    if ([...value].length > max) say(`The ${attribute} must not be greater than ${max} characters.`);
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
  decimalOf(value) ?? stop(say, `The ${attribute} must be a number.`);

const isInteger: Rule<unknown, bigint> = (value, attribute, say) => {
  const source = sourceOf(value);
  // Digits alone are an integer, however many: too many of them are above the field's limit.
  const text = typeof source === 'string' && /^-?\d+$/.test(source) ? source : decimalOf(value);
  return text === undefined || text.includes('.')
    ? stop(say, `The ${attribute} must be an integer.`)
    : BigInt(text);
};

const between =
  (min: number, max: number): Rule<bigint, number> =>
  (value, attribute, say) => {
    if (value < min) say(`The ${attribute} must be at least ${min}.`);
    if (value > max) say(`The ${attribute} must not be greater than ${max}.`);
    // eslint-disable-next-line no-restricted-syntax -- an integer within the field's own limits
    return Number(value);
  };

/** Stricter than URL, which mends what browsers mend: `http:shop`, tabs, line ends. */
const isUrl: Rule<string, string> = (value, attribute, say) =>
  /^https?:\/\/[^\s\p{Cc}/\\?#][^\s\p{Cc}]*$/iu.test(value) && URL.canParse(value)
    ? value
    : stop(say, `The ${attribute} must be a valid URL.`);

const isOneOf =
  <T extends string>(allowed: readonly T[]): Rule<string, T> =>
  (value, attribute, say) =>
    allowed.find((one) => one === value) ?? stop(say, `The selected ${attribute} is invalid.`);

/** Each element is one of `allowed`, and counts once. */
const isListOf =
  <T extends string>(allowed: readonly T[]): Rule<unknown, T[]> =>
  (value, attribute, say) => {
    if (!Array.isArray(value)) return stop(say, `The ${attribute} must be an array.`);
    if (value.length === 0) return stop(say, `The ${attribute} must have at least 1 items.`);
    if (value.length > allowed.length) {
      return stop(say, `The ${attribute} must not have more than ${allowed.length} items.`);
    }
    for (const [index, element] of value.entries()) {
      if (!allowed.includes(element)) say(`The selected ${attribute}.${index} is invalid.`, index);
    }
    return [...new Set(value as T[])];
  };

/** What Laravel takes for a truth: JSON's own, and 1 and 0 as numbers or texts. */
const isBoolean: Rule<unknown, boolean> = (value, attribute, say) => {
  const given = sourceOf(value);
  if (given === true || given === '1') return true;
  if (given === false || given === '0') return false;
  return stop(say, `The ${attribute} field must be true or false.`);
};

const isoDate =
  /^(\d{4}-\d{2}-(\d{2}))(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/** ISO 8601: a date, or a date and time. UTC unless it says otherwise, wherever the machine stands. */
const isDate: Rule<string, Date> = (value, attribute, say) => {
  const wrong = (): typeof STOP => stop(say, `The ${attribute} is not a valid date.`);
  const [matched, date, day, hours = '00', minutes = '00', seconds = '00', fraction = '', offset = 'Z'] =
    isoDate.exec(value) ?? [];
  if (matched === undefined || value.startsWith('0000')) return wrong();
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const zone = offset.replace(/^(.\d\d)(\d\d)$/, '$1:$2');
  const local = new Date(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
  // Date takes 31 February for a day in March.
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(8, 10) !== day) return wrong();
  return new Date(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}${zone}`);
};

/** The rules of this API, in Laravel 8's words. */
export const rules = {
  text: (max: number): Rules<string> => rulesOf(isText, maxCharacters(max)),
  url: (max: number): Rules<string> => rulesOf(isText, isUrl, maxCharacters(max)),
  /** An exact amount, as plain decimal text; its limits depend on the asset and are judged by the caller. */
  number: (): Rules<string> => rulesOf(isNumber),
  integer: (min: number, max: number): Rules<number> => rulesOf(isInteger, between(min, max)),
  oneOf: <T extends string>(allowed: readonly T[]): Rules<T> => rulesOf(isText, isOneOf(allowed)),
  listOf: <T extends string>(allowed: readonly T[]): Rules<T[]> => rulesOf(isListOf(allowed)),
  boolean: (): Rules<boolean> => rulesOf(isBoolean),
  date: (): Rules<Date> => rulesOf(isText, isDate),
};

export const messages = {
  atLeast: (field: string, min: string) => `The ${attributeOf(field)} must be at least ${min}.`,
  atMost: (field: string, max: string) => `The ${attributeOf(field)} must not be greater than ${max}.`,
  decimals: (field: string, places: number) =>
    `The ${attributeOf(field)} must not have more than ${places} decimal places.`,
  invalid: (field: string) => `The selected ${attributeOf(field)} is invalid.`,
};

type Shape = Record<string, Field<unknown>>;
export type FormValues<S extends Shape> = { [K in keyof S]: S[K] extends Field<infer T> ? T : never };

export type Form<S extends Shape> = (input: unknown) => Result<FormValues<S>, FieldErrors>;

/**
 * Reads a request's fields. Anything but an object counts as empty input. All failures of all fields are
 * listed; unknown fields are ignored.
 */
export function form<S extends Shape>(shape: S): Form<S> {
  const schema = z.object(
    Object.fromEntries(Object.entries(shape).map(([name, make]) => [name, make(attributeOf(name))])),
  );
  return (input) => {
    const isObject =
      typeof input === 'object' && input !== null && !Array.isArray(input) && !(input instanceof ExactNumber);
    const given = isObject ? (input as Record<string, unknown>) : {};
    const known = Object.fromEntries(Object.keys(shape).map((name) => [name, given[name]]));
    const parsed = schema.safeParse(known);
    if (parsed.success) return ok(parsed.data as FormValues<S>);
    const errors: FieldErrors = {};
    for (const issue of parsed.error.issues) {
      // An element of a list is a field of its own: `events.0`.
      const name = issue.path.join('.');
      errors[name] = [...(errors[name] ?? []), issue.message];
    }
    return refuse(errors);
  };
}
