import { z } from 'zod';
import { assetSymbols, assets, chains } from './assets.ts';
import { currencyCodes } from './currencies.ts';
import { idForm } from './ids.ts';

/**
 * What the answers of the API consist of. Nothing here parses: the schemas describe answers, for the reference, and the
 * end-to-end suites compare every answer with them. Only files of references import this at run time.
 */

/** Stands for a text that is given with each schema: a schema without one has no meaning in the reference. */
type Text = string;

/** An amount or a rate: decimal text without exponent and trailing zeros, never negative. */
export const decimal = (text: Text) =>
  z
    .string()
    .regex(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
    .describe(text);

/** The same, and it may be negative. */
export const signedDecimal = (text: Text) =>
  z
    .string()
    .regex(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/)
    .describe(text);

/** An amount of a currency: exactly two decimals. */
export const fiatAmount = (text: Text) =>
  z
    .string()
    .regex(/^\d+\.\d{2}$/)
    .describe(text);

/** A moment: ISO 8601 in UTC with milliseconds. */
export const time = (text: Text) =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .meta({ format: 'date-time', description: text });

export const id = (prefix: string, text: Text) => z.string().regex(idForm(prefix)).describe(text);
export const payoutId = (text: Text) => z.int().min(1).describe(text);
export const count = (text: Text) => z.int().nonnegative().describe(text);
export const text = (description: Text) => z.string().describe(description);
export const flag = (description: Text) => z.boolean().describe(description);
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T, description: Text) =>
  z.enum(values).describe(description);

/** The same of a value whose type is any text. */
export const textOf = (values: readonly string[], description: Text) =>
  z.string().meta({ enum: values, description });

export const metadata = z
  .record(z.string(), z.string())
  .describe('Your own keys and texts, as you gave them: an empty object when you gave none.')
  .meta({ id: 'Metadata' });

export const assetSymbol = z
  .enum(assetSymbols)
  .describe('The symbol of an asset.')
  .meta({ id: 'AssetSymbol' });
export const currency = z
  .enum(currencyCodes)
  .describe('The code of a currency (ISO 4217).')
  .meta({ id: 'Currency' });

const ids = Object.values(assets).map(({ id: one }) => one);
const decimals = z.int().min(0).max(18).describe('How many decimals an amount of the asset may have.');
const reduced = {
  id: z
    .int()
    .min(Math.min(...ids))
    .describe('The number of the asset.'),
  symbol: assetSymbol,
  name: text('The name of the asset.'),
  decimals,
};

/** The contract's reduced asset object. */
export const reducedAsset = z
  .strictObject(reduced)
  .meta({ id: 'ReducedAsset', description: 'An asset, without what changes.' });

export const asset = z
  .strictObject({
    ...reduced,
    chain: oneOf(chains, 'The network of the asset.'),
    type: oneOf(['native', 'token'], 'Whether the network itself issues it, or a contract on it.'),
    usd_rate: decimal('US dollars for one whole asset now.'),
    network_fee: decimal('What a payout costs beside its amount, in the asset.'),
    min_confirmations: count('How many confirmations make a payment final.'),
  })
  .meta({ id: 'Asset', description: 'An asset with its rate and network fee of this moment.' });

const source = z.strictObject({
  name: text('The name of the source.'),
  usd_rate: decimal('The rate that it told.'),
  read_at: time('When it was read.'),
});
const rateParts = {
  usd_rate: decimal('US dollars for one unit.'),
  sources: z.array(source).describe('What each source told. Of the dollar itself there is none.'),
};

/** Locked rates in US dollars, and where they came from. */
export const rates = z
  .strictObject({
    currency: z
      .strictObject({
        code: currency,
        ...rateParts,
        as_of: time('When the oldest source was read; null of the dollar itself.').nullable(),
      })
      .describe('The rate of the currency.'),
    asset: z
      .strictObject({
        symbol: assetSymbol,
        ...rateParts,
        as_of: time('When the oldest source was read.'),
      })
      .describe('The rate of the asset.'),
  })
  .meta({ id: 'Rates', description: 'Rates in US dollars, and where they came from.' });

const links = z
  .strictObject({
    first: text('The first page.'),
    last: text('The last page.'),
    prev: text('The page before; null of the first.').nullable(),
    next: text('The page after: follow it until it is null.').nullable(),
  })
  .meta({ id: 'PageLinks', description: 'The URLs of other pages of the list.' });

const meta = z
  .strictObject({
    current_page: z.int().min(1).describe('The number of this page.'),
    from: z
      .int()
      .min(1)
      .nullable()
      .describe('The place of its first item, counted from 1; null without items.'),
    last_page: z.int().min(1).describe('The number of the last page.'),
    links: z
      .array(
        z.strictObject({
          url: text('The page; null where there is none.').nullable(),
          label: text('What to show.'),
          active: flag('Whether it is this page.'),
        }),
      )
      .describe('The links of a page navigation.'),
    path: text('The URL of the list without its query.'),
    per_page: z.int().min(1).describe('How many items a page has.'),
    to: z.int().min(1).nullable().describe('The place of its last item; null without items.'),
    total: count('How many items there are, exact up to 10,000.'),
  })
  .meta({ id: 'PageMeta', description: 'Where the page lies in the list.' });

/** A page of a list. */
export const pageOf = <S extends z.ZodType>(name: string, item: S) =>
  z
    .strictObject({ data: z.array(item).describe('The items, newest first.'), links, meta })
    .meta({ id: name, description: 'A page of a list.' });

export const message = text('What was done, for people.');

/** The body of most answers to requests that change something. */
export const dataOf = <S extends z.ZodType>(data: S) => z.strictObject({ data });
export const saidOf = <S extends z.ZodType>(data: S) => z.strictObject({ message, data });
