/** A JSON number as it was written: no double ever stood between the client and us. */
export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

export type ExactJson = string | boolean | null | ExactNumber | ExactJson[] | { [key: string]: ExactJson };

const DEPTH_MAX = 32;

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
    // Malformed JSON is answered like empty input: the caller names the fields it misses.
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
