const NAME = 'authorization';
const form = /^Bearer +([^\s]+)$/i;

/**
 * The token of a request's one Authorization header. Undefined when there is none, when it is no bearer
 * token, and when there are two: which of them counts would be anybody's guess.
 * @param rawHeaders names and values in turn, as they came; Node's own view of them hides a second one.
 */
export function bearerToken(rawHeaders: readonly string[]): string | undefined {
  let given: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name === undefined || name.length !== NAME.length || name.toLowerCase() !== NAME) continue;
    if (given !== undefined) return undefined;
    given = rawHeaders[i + 1];
  }
  return given === undefined ? undefined : form.exec(given)?.[1];
}
