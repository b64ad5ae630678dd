const CHARACTERS_MAX = 255;

/** A name an operator gave: trimmed, one line, 1 to 255 characters. Undefined when it is not that. */
export function readName(text: string): string | undefined {
  const name = text.trim();
  const fits = name !== '' && [...name].length <= CHARACTERS_MAX;
  // Control characters would garble the terminal of whoever lists it.
  return fits && name.isWellFormed() && !/\p{Cc}/u.test(name) ? name : undefined;
}
