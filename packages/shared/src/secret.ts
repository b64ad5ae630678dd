import { inspect } from 'node:util';

const CENSORED = '[redacted]';

/**
 * A text that no log, no error and no answer may show: a password, a key, words. However it is printed, it says
 * `[redacted]`; who needs it says `reveal()`, where it is used and nowhere before.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return CENSORED;
  }

  toJSON(): string {
    return CENSORED;
  }

  [inspect.custom](): string {
    return CENSORED;
  }
}

/** For a setting's schema, after what it checks. */
export const toSecret = (text: string): Secret => new Secret(text);
