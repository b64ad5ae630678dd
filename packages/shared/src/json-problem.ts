/** A body that was sent and is no JSON; `hint` says why, and where. */
export class UnreadableBody {
  readonly hint: string;

  constructor(hint: string) {
    this.hint = hint;
  }
}

/** Says where a text ceases to be JSON, and why. Undefined when it is JSON. */
export function jsonProblem(text: string): string | undefined {
  if (text.startsWith('\ufeff')) return 'The body begins with a byte order mark: send JSON without one.';
  const problem = problemOf(text);
  if (problem === undefined) return undefined;
  if (/^[\w.%[\]-]+=/.test(text)) {
    return 'The body is a form. Send JSON instead, such as {"asset": "ETH"}, with Content-Type: application/json.';
  }
  const { line, column } = placeOf(text, problem.position ?? brokenAt(text));
  return `The body is not valid JSON: line ${line}, column ${column}: ${problem.reason}.`;
}

/** Says where an object has a key for the second time. */
export function repeatedKeyProblem(text: string, position: number): string {
  const { line, column } = placeOf(text, position);
  return `The body has a key twice in one object: line ${line}, column ${column}.`;
}

type Problem = { reason: string; position: number | undefined };

/** The engine's own words. It names the position of most problems, not of all. */
function problemOf(text: string): Problem | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const at = /at position (\d+)/.exec(message)?.[1];
    const [reason = ''] = message.split(/, (?:\.\.\.)?"|(?: in JSON)? at position /);
    if (message.startsWith('Unexpected end')) {
      return { reason: 'Unexpected end: a part is missing', position: text.length };
    }
    // eslint-disable-next-line no-restricted-syntax -- a place in a text
    return { reason, position: at === undefined ? undefined : Number(at) };
  }
}

/** Where the shortest beginning ends that nothing could complete to JSON. */
function brokenAt(text: string): number {
  let [fine, broken] = [0, text.length];
  while (fine < broken) {
    const middle = Math.floor((fine + broken + 1) / 2);
    const start = problemOf(text.slice(0, middle));
    if (start === undefined || (start.position ?? -1) >= middle) fine = middle;
    else broken = middle - 1;
  }
  return fine;
}

function placeOf(text: string, position: number): { line: number; column: number } {
  const lines = text.slice(0, position).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}
