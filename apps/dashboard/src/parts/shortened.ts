const START = 8;
const END = 6;

/** A hash, an address or an id in a few characters, of which the ends are compared. */
export const shortened = (text: string): string =>
  text.length <= START + END + 3 ? text : `${text.slice(0, START)}…${text.slice(-END)}`;
