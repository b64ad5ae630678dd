/**
 * Everything that a command prints goes through here. Names, references, URLs and error texts come from merchants,
 * customers and servers: printed as they are, an escape sequence in them would change the operator's terminal, and a line
 * break would look like a line of ours.
 */

/** Controls, line separators, lone surrogates, all format characters, such as those that turn a text round, and what shows nothing. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Cf}\p{DI}]/gu;
const UNPRINTABLE_BUT_LINE_END = /[\p{Zl}\p{Zp}\p{Cs}\p{Cf}\p{DI}]|(?!\n)\p{Cc}/gu;

const HEX_DIGITS = 4;
const HEX = 16;

/** As JSON writes it, which is legible too: a backslash, a `u` and four digits. */
function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at++)
    text += `\\u${character.charCodeAt(at).toString(HEX).padStart(HEX_DIGITS, '0')}`;
  return text;
}

/** A value that fits in a line, whatever is in it. */
export const inLine = (value: string): string => value.replace(UNPRINTABLE, escaped);

/** What a command says: our words, with the values in them made printable. Only `say` and `table` make it. */
export class Said {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** Of a template's own text, which is ours, and of values, which are not. */
  static of(words: readonly string[], values: readonly SaidValue[]): Said {
    const parts = values.map((value, place) => printable(value) + (words[place + 1] ?? ''));
    return new Said((words[0] ?? '') + parts.join(''));
  }
}

export type SaidValue = string | number | Said | readonly Said[];

function printable(value: SaidValue): string {
  if (value instanceof Said) return value.text;
  if (typeof value === 'string') return inLine(value);
  return typeof value === 'number' ? String(value) : value.map(({ text }) => text).join('');
}

/** A template tag: ``say`Account ${name} created.\n` ``. */
export const say = (words: TemplateStringsArray, ...values: readonly SaidValue[]): Said =>
  // Cooked, so that `\n` is a line's end.
  Said.of(words, values);

type Streams = { out(text: string): void; err(text: string): void };

/** The same streams, on which nothing but whole lines of printable text comes out. JSON stays the same JSON. */
export function printing<T extends Streams>(streams: T): T {
  const guarded = (write: (text: string) => void) => (text: string) =>
    write(text.replace(UNPRINTABLE_BUT_LINE_END, escaped));
  return { ...streams, out: guarded(streams.out), err: guarded(streams.err) };
}
