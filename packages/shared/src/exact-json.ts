import { jsonProblem, repeatedKeyProblem, UnreadableBody } from './json-problem.ts';

/** A JSON number as it was written: no double ever stood between the client and us. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

export type ExactJson = string | boolean | null | ExactNumber | ExactJson[] | { [key: string]: ExactJson };

/** The fields of an object; undefined of any other input. */
export function fieldsOf(input: unknown): Record<string, unknown> | undefined {
  // PHP writes an array without entries as a list.
  if (Array.isArray(input) && input.length === 0) return {};
  const isObject =
    typeof input === 'object' &&
    input !== null &&
    !Array.isArray(input) &&
    !(input instanceof ExactNumber) &&
    !(input instanceof UnreadableBody);
  return isObject ? (input as Record<string, unknown>) : undefined;
}

const DEPTH_MAX = 32;

/** A request's body: undefined when there is none. */
export type RequestBody = ExactJson | UnreadableBody | undefined;

/** Reads a body. What cannot be read is answered like empty input, with a hint that says why. */
export function readRequestBody(raw: Uint8Array): RequestBody {
  if (raw.length === 0) return undefined;
  const text = decode(raw);
  return text === undefined ? new UnreadableBody('The body is not valid UTF-8.') : readJson(text);
}

// A BOM is kept, and no JSON begins with one.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a body. Undefined when its bytes are no UTF-8. */
function decode(raw: Uint8Array): string | undefined {
  try {
    return utf8.decode(raw);
  } catch {
    return undefined;
  }
}

/** As `readRequestBody` reads a text; undefined when it cannot be read. */
export function parseExactJson(text: string): ExactJson | undefined {
  const read = readJson(text);
  return read instanceof UnreadableBody ? undefined : read;
}

/**
 * Keeps each number as it was written, and refuses a key that an object has twice: readers differ in which of the two counts, so
 * two of them would take one body for two requests.
 */
function readJson(text: string): ExactJson | UnreadableBody {
  const problem = jsonProblem(text);
  if (problem !== undefined) return new UnreadableBody(problem);
  if (deeperThan(text, DEPTH_MAX))
    return new UnreadableBody(`The body is nested deeper than ${DEPTH_MAX} levels.`);
  const { value, repeatedKeyAt } = readValid(text);
  return repeatedKeyAt === undefined ? value : new UnreadableBody(repeatedKeyProblem(text, repeatedKeyAt));
}

/**
 * Builds the value of a text that is known to be JSON. JSON.parse does not do: V8 13.6 takes a key with an escape for another one
 * that came at its place in an earlier text (`"\u0061"` for `"\\"`), and the reviver, which tells the source of a number, is slow.
 */
function readValid(text: string): { value: ExactJson; repeatedKeyAt: number | undefined } {
  // Colons and commas are needless in a valid text: in an object, a key and its value take turns.
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[^\s{}[\]:,"]+/g;
  const next = () => tokens.exec(text)?.[0] ?? '';
  let repeatedKeyAt: number | undefined;
  const meaningOf = (token: string): ExactJson => {
    if (token === '{') return object();
    if (token === '[') return list();
    if (token.startsWith('"')) return textOf(token);
    if (token === 'null') return null;
    return token === 'true' || token === 'false' ? token === 'true' : new ExactNumber(token);
  };
  const list = (): ExactJson[] => {
    const values: ExactJson[] = [];
    for (let token = next(); token !== ']'; token = next()) values.push(meaningOf(token));
    return values;
  };
  const object = (): { [key: string]: ExactJson } => {
    const members = new Map<string, ExactJson>();
    for (let token = next(); token !== '}'; token = next()) {
      const key = textOf(token);
      if (members.has(key)) repeatedKeyAt ??= tokens.lastIndex - token.length;
      members.set(key, meaningOf(next()));
    }
    // Makes `__proto__` a member like any other.
    return Object.fromEntries(members);
  };
  const value = meaningOf(next());
  return { value, repeatedKeyAt };
}

const textOf = (token: string): string =>
  token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);

function deeperThan(text: string, max: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth -= 1;
    if (depth > max) return true;
  }
  return false;
}
