import { languages } from '@quittance/shared/page-language';
import { type Field, type FieldProblem, issueOf, messages, rules } from '@quittance/shared/validation';
import { z } from 'zod';
import {
  FRAME_ANCESTORS_MAX,
  hostOf,
  isHttpsOrigin,
  LOGO_CHARACTERS_MAX,
  type LogoProblem,
  logoProblem,
  REDIRECT_HOSTS_MAX,
  SHOP_NAME_CHARACTERS_MAX,
} from '../domain/shop.ts';

const logoHints = {
  too_large: `A data URI of at most ${LOGO_CHARACTERS_MAX} characters is about 6 kB of picture: make it smaller, for example 160 pixels wide.`,
  no_data_uri:
    'Give a data URI of a PNG, JPEG or WebP, such as "data:image/png;base64,iVBOR…". SVG is refused, because it may carry scripts.',
  other_format: 'The bytes are not of the format that the data URI names. Export the picture once more.',
} as const satisfies Record<LogoProblem, string>;

/** A picture as a data URI; its bytes decide. */
const logo: Field<string | null> = (attribute) =>
  rules
    .text(LOGO_CHARACTERS_MAX)
    .optional(attribute)
    .superRefine((text, context) => {
      const problem = text === null ? undefined : logoProblem(text);
      if (problem !== undefined && problem !== 'too_large')
        context.addIssue(issueOf(messages.invalid(attribute, logoHints[problem])));
    });

/** A list that may be empty, of texts in their canonical form; null counts as empty. */
const list =
  (
    itemsMax: number,
    example: string,
    canonical: (text: string) => string | undefined,
    problem: (attribute: string) => FieldProblem,
  ): Field<string[]> =>
  (attribute) =>
    rules
      .textList(itemsMax, example, 0)
      .or<string[]>([])(attribute)
      .transform((texts, context) => {
        const found = texts.map((text, index) => {
          const read = canonical(text.trim());
          if (read === undefined) context.addIssue(issueOf(problem(`${attribute}.${index}`), index));
          return read ?? text;
        });
        return context.issues.length > 0 ? z.NEVER : [...new Set(found)];
      });

/** The fields of what an account shows on the pages of its customers, and of where these may lead. */
export const shopFields = {
  shop_name: rules.text(SHOP_NAME_CHARACTERS_MAX).optional,
  shop_logo: logo,
  language: rules.oneOf(languages).optional,
  redirect_hosts: list(REDIRECT_HOSTS_MAX, 'shop.example', hostOf, (attribute) =>
    messages.invalid(
      attribute,
      'Give a host name without https:// and without a path, such as shop.example.',
    ),
  ),
  frame_ancestors: list(
    FRAME_ANCESTORS_MAX,
    'https://shop.example',
    (text) => (isHttpsOrigin(text) ? text : undefined),
    (attribute) =>
      messages.invalid(attribute, 'Give an origin of https without a path, such as https://shop.example.'),
  ),
};
