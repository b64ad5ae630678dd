import { ExactNumber, fieldsOf } from './exact-json.ts';
import type { Metadata } from './metadata.ts';

/** Says what is wrong with a field, or with an element of its list or object. */
export type Say = (message: string, hint?: string, element?: number | string) => void;
/** Ends the field: a text that is no number cannot be too small. */
export const STOP: unique symbol = Symbol('stop');
/** Looks at a value that the rules before it have passed, and returns what the next one looks at. */
export type Rule<In, Out> = (value: In, attribute: string, say: Say) => Out | typeof STOP;

export function stop(say: Say, message: string, hint?: string): typeof STOP {
  say(message, hint);
  return STOP;
}

export const isText: Rule<unknown, string> = (value, attribute, say) =>
  // NUL cannot be stored, a lone surrogate is no text.
  typeof value === 'string' && !value.includes('\0') && value.isWellFormed()
    ? value
    : stop(say, `The ${attribute} must be a string.`, textHint(value));

function textHint(value: unknown): string {
  if (value instanceof ExactNumber) return `Put it in quotes: "${value.source}".`;
  if (typeof value === 'string')
    return 'Leave out characters that cannot be stored: NUL and lone surrogates.';
  return 'Give a text in quotes.';
}

/** Characters are counted as people count them: an emoji of two code units is one. */
export const maxCharacters =
  (max: number): Rule<string, string> =>
  (value, attribute, say) => {
    const { length } = [...value];
    if (length > max) {
      say(
        `The ${attribute} must not be greater than ${max} characters.`,
        `It has ${length} characters: shorten it.`,
      );
    }
    return value;
  };

/** Each element is a text; the caller judges what it says. */
export const isTextList =
  (itemsMax: number, example: string, itemsMin: number): Rule<unknown, string[]> =>
  (value, attribute, say) => {
    const hint = `Give an array, such as ["${example}"].`;
    if (!Array.isArray(value)) return stop(say, `The ${attribute} must be an array.`, hint);
    if (value.length < itemsMin) {
      return stop(say, `The ${attribute} must have at least ${itemsMin} items.`, hint);
    }
    if (value.length > itemsMax) {
      return stop(
        say,
        `The ${attribute} must not have more than ${itemsMax} items.`,
        `It has ${value.length}.`,
      );
    }
    let failed = false;
    for (const [index, element] of value.entries()) {
      const sayOfElement: Say = (message, why) => say(message, why, index);
      if (isText(element, `${attribute}.${index}`, sayOfElement) === STOP) failed = true;
    }
    return failed ? STOP : (value as string[]);
  };

const METADATA_KEYS_MAX = 50;
const METADATA_KEY_CHARACTERS_MAX = 40;
const METADATA_VALUE_CHARACTERS_MAX = 500;
/** All of it as JSON. It is in every event and list item, of which an answer has hundreds. */
const METADATA_BYTES_MAX = 8_192;

/** Keys and values are kept as they were given: only the limits are checked. */
export const isMetadata: Rule<unknown, Metadata> = (value, attribute, say) => {
  const given = fieldsOf(value);
  if (given === undefined) {
    return stop(
      say,
      `The ${attribute} must be an object.`,
      'Give an object of texts, such as {"order": "1042"}.',
    );
  }
  const entries = Object.entries(given);
  if (entries.length > METADATA_KEYS_MAX) {
    const hint = `It has ${entries.length} keys.`;
    return stop(say, `The ${attribute} must not have more than ${METADATA_KEYS_MAX} items.`, hint);
  }
  const isKey = maxCharacters(METADATA_KEY_CHARACTERS_MAX);
  const isValue = maxCharacters(METADATA_VALUE_CHARACTERS_MAX);
  for (const [key, text] of entries) {
    const ofKey = `${attribute} key`;
    if (key === '') say(`The ${ofKey} must be at least 1 characters.`, 'Give each text a key.');
    else if (isText(key, ofKey, say) !== STOP) isKey(key, ofKey, say);
    const about = [...key].slice(0, METADATA_KEY_CHARACTERS_MAX).join('');
    const sayOfKey: Say = (message, hint) => say(message, hint, about);
    const ofValue = `${attribute}.${about}`;
    if (isText(text, ofValue, sayOfKey) !== STOP) isValue(text as string, ofValue, sayOfKey);
  }
  if (Buffer.byteLength(JSON.stringify(given)) > METADATA_BYTES_MAX)
    say(
      `The ${attribute} must not be greater than 8 kilobytes.`,
      'Keep what is long on your side, by its id.',
    );
  return given as Metadata;
};

/** What `isMetadata` takes, as JSON schema. */
export const metadataSchema = {
  type: 'object',
  maxProperties: METADATA_KEYS_MAX,
  propertyNames: { minLength: 1, maxLength: METADATA_KEY_CHARACTERS_MAX },
  additionalProperties: { type: 'string', maxLength: METADATA_VALUE_CHARACTERS_MAX },
} as const;
