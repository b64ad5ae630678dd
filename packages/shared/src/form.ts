import { z } from 'zod';
import { fieldsOf } from './exact-json.ts';
import { UnreadableBody } from './json-problem.ts';
import { didYouMean } from './nearest.ts';
import { ok, type Result, refuse } from './result.ts';
import { attributeOf, type Field, type FieldErrors } from './validation.ts';

type Shape = Record<string, Field<unknown>>;
export type FormValues<S extends Shape> = { [K in keyof S]: S[K] extends Field<infer T> ? T : never };

export type Form<S extends Shape> = ((input: unknown) => Result<FormValues<S>, FieldErrors>) & {
  /** What reads the fields, with their JSON schemas as metadata. */
  readonly schema: z.ZodObject<{ [K in keyof S]: z.ZodType<FormValues<S>[K]> }>;
};

export type FormOptions = {
  /** Names that others read, such as `page` of a list. */
  alsoKnown?: readonly string[];
  /** What to say about names that are not known, and often given. */
  hints?: Readonly<Record<string, string>>;
};

/**
 * Reads a request's fields. Anything but an object counts as empty input. All failures of all fields are listed, and
 * fields that are not known.
 */
export function form<S extends Shape>(shape: S, { alsoKnown = [], hints = {} }: FormOptions = {}): Form<S> {
  const read = formPart(shape);
  const known = [...alsoKnown, ...Object.keys(shape)];
  const readAll = (input: unknown): Result<FormValues<S>, FieldErrors> => {
    const parsed = read(input);
    const unknown = unknownFields(input, known, hints);
    const errors = { ...(parsed.ok ? {} : parsed.refusal), ...unknown };
    if (Object.keys(errors).length > 0) return refuse(errors);
    const hint = bodyHint(input);
    // A body without required fields may be missing. One that was sent and cannot be read is never taken for a missing one.
    if (hint !== undefined && input !== undefined) {
      return refuse({ body: [{ message: 'The body must be a JSON object.', hint }] });
    }
    const range = parsed.ok ? rangeProblem(parsed.value) : undefined;
    return range === undefined ? parsed : refuse(range);
  };
  return Object.assign(readAll, { schema: read.schema });
}

/** Filters of a list that nothing can match: a range that ends before it begins. */
function rangeProblem(given: Record<string, unknown>): FieldErrors | undefined {
  const problems = ['created', 'paid'].flatMap((what): [string, FieldErrors[string]][] => {
    const [from, to] = [given[`${what}_from`], given[`${what}_to`]];
    if (!(from instanceof Date && to instanceof Date) || from <= to) return [];
    const message = `The ${what} to must be a date after or equal to ${what} from.`;
    const hint = `${what}_from is ${from.toISOString()}, which is later: exchange the two dates.`;
    return [[`${what}_to`, [{ message, hint }]]];
  });
  return problems.length === 0 ? undefined : Object.fromEntries(problems);
}

/** Reads some fields of a body and leaves the others to other parts: `unknownFields` tells what none of them knows. */
export function formPart<S extends Shape>(shape: S): Form<S> {
  const schema = z.object(
    Object.fromEntries(Object.entries(shape).map(([name, make]) => [name, make(attributeOf(name))])),
  ) as Form<S>['schema'];
  const readPart = (input: unknown): Result<FormValues<S>, FieldErrors> => {
    const given = fieldsOf(input) ?? {};
    const known = Object.fromEntries(
      Object.keys(shape).map((name) => [name, Object.hasOwn(given, name) ? given[name] : undefined]),
    );
    const parsed = schema.safeParse(known);
    if (parsed.success) return ok(parsed.data as FormValues<S>);
    const errors: FieldErrors = {};
    const whole = bodyHint(input);
    for (const issue of parsed.error.issues) {
      // An element of a list is a field of its own: `events.0`.
      const name = issue.path.join('.');
      const { hint } = (issue.code === 'custom' ? issue.params : undefined) ?? {};
      const problem = {
        message: issue.message,
        hint: whole ?? (typeof hint === 'string' ? hint : undefined),
      };
      errors[name] = [...(errors[name] ?? []), problem];
    }
    return refuse(errors);
  };
  return Object.assign(readPart, { schema });
}

/** More of them are not listed: the answer stays small. */
const UNKNOWN_MAX = 20;

/** The fields of an input that are not among the known names, each with the nearest of them. */
export function unknownFields(
  input: unknown,
  known: readonly string[],
  hints: Readonly<Record<string, string>> = {},
): FieldErrors {
  const unknown = Object.keys(fieldsOf(input) ?? {}).filter((name) => !known.includes(name));
  const list = known.length === 0 ? 'No field is known here.' : `Known: ${known.join(', ')}.`;
  return Object.fromEntries(
    unknown.slice(0, UNKNOWN_MAX).map((name) => {
      const hint = Object.hasOwn(hints, name) ? hints[name] : (didYouMean(name, known) ?? list);
      return [name, [{ message: `The ${attributeOf(name)} field is not known.`, hint }]];
    }),
  );
}

/** What is wrong with a body as a whole. */
function bodyHint(input: unknown): string | undefined {
  if (fieldsOf(input) !== undefined) return undefined;
  if (input instanceof UnreadableBody) return input.hint;
  if (input === undefined) return 'The body is empty: send a JSON object.';
  return 'The body is JSON, and no object: send a JSON object, such as {"name": "value"}.';
}
