/** So long is no path of an operation, whatever a client sends. */
const PATH_LENGTH_MAX = 300;

/** A path as it is kept: without a token or an invitation that somebody has put in the place of an id. */
export const storedPath = (path: string): string =>
  path.slice(0, PATH_LENGTH_MAX).replace(/\b(qt|qi)_\w+/g, '$1_…');
