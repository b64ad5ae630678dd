import { jsonProblem, UnreadableBody } from './json-problem.ts';

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
  if (text === undefined) return new UnreadableBody('The body is not valid UTF-8.');
  const parsed = parseExactJson(text);
  if (parsed !== undefined) return parsed;
  return new UnreadableBody(jsonProblem(text) ?? `The body is nested deeper than ${DEPTH_MAX} levels.`);
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

/**
 * JSON.parse that keeps each number's source text. Undefined when the text is no JSON, or nested deeper
 * than any request of ours. A key given twice keeps its last value, as JSON.parse has it.
 */
export function parseExactJson(text: string): ExactJson | undefined {
  if (deeperThan(text, DEPTH_MAX)) return undefined;
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? new ExactNumber(context?.source ?? String(value)) : value,
    ) as ExactJson;
  } catch {
    return undefined;
  }
}

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
