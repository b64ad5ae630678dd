import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import { fieldsOf, type RequestBody } from '@quittance/shared/exact-json';
import { formPart } from '@quittance/shared/form';
import { ok, type Result, refuse } from '@quittance/shared/result';
import { type FieldErrors, type FieldProblem, messages, rules } from '@quittance/shared/validation';
import { z } from 'zod';
import type { Ports } from '../ports.ts';

/** Where `assets` has this value, the payer may choose from all assets. */
export const ALL = 'all' as const;

/** What an invoice may be paid in: one asset, or those that the payer may choose from. */
export type Offer = { asset: AssetSymbol; assets: null } | { asset: null; assets: readonly AssetSymbol[] };

export const symbolsOf = (offer: Offer): readonly AssetSymbol[] =>
  offer.assets === null ? [offer.asset] : offer.assets;

type OfferPorts = Pick<Ports, 'quotes' | 'chains'>;

/** An asset that is switched off or not configured is not offered. One without a quote is: that is no error of the merchant. */
export const isOffered = ({ quotes, chains }: OfferPorts, symbol: AssetSymbol): boolean =>
  chains.get(assets[symbol].chain)?.assets.has(symbol) === true && quotes.latest(symbol)?.active !== false;

const assetFormOf = (offered: readonly AssetSymbol[]) => formPart({ asset: rules.oneOf(offered).required });
export const assetForm = assetFormOf(assetSymbols);

/** Reads `asset` or `assets`. The assets of "all" are those that are offered now. */
export function readOffer(ports: OfferPorts, body: RequestBody): Result<Offer, FieldErrors> {
  if (isGiven(body, 'assets')) return readAssets(ports, body);
  const known = assetForm(body);
  const asset =
    known.ok && isOffered(ports, known.value.asset)
      ? known
      : assetFormOf(assetSymbols.filter((symbol) => isOffered(ports, symbol)))(body);
  if (asset.ok) return ok({ asset: asset.value.asset, assets: null });
  if (fieldsOf(body) === undefined || isGiven(body, 'asset')) return asset;
  return refuse({ asset: (asset.refusal['asset'] ?? []).map(orAssets) });
}

const orAssets = ({ message, hint = '' }: FieldProblem): FieldProblem => ({
  message,
  hint: `${hint} Or give assets, an array or "${ALL}", and the payer chooses.`,
});

/** Whether a field has a value: null and an empty text are none, as in every form. */
export function isGiven(body: RequestBody, name: string): boolean {
  const value = fieldsOf(body)?.[name] ?? null;
  return value !== null && !(typeof value === 'string' && value.trim() === '');
}

/** What `readAssets` reads, for the reference. */
export const assetsField = z.union([rules.listOf(assetSymbols).required('assets'), z.literal(ALL)]);

function readAssets(ports: OfferPorts, body: RequestBody): Result<Offer, FieldErrors> {
  if (isGiven(body, 'asset')) {
    const hint = 'Give asset for one asset, or assets for those that the payer may choose from.';
    return refuse({ assets: [{ message: 'The assets field cannot be given together with asset.', hint }] });
  }
  const value = fieldsOf(body)?.['assets'];
  const offered = assetSymbols.filter((symbol) => isOffered(ports, symbol));
  if (value === ALL) {
    return offered.length > 0
      ? ok({ asset: null, assets: offered })
      : refuse({ assets: [messages.invalid('assets', 'No asset can be used now.')] });
  }
  const read = formPart({ assets: rules.listOf(offered).required })(body);
  const twice = Array.isArray(value) ? value.findIndex((one, i) => value.indexOf(one) < i) : -1;
  if (twice !== -1) {
    const problem = {
      message: `The assets.${twice} field has a duplicate value.`,
      hint: 'Name each asset once.',
    };
    return refuse({ ...(read.ok ? {} : read.refusal), [`assets.${twice}`]: [problem] });
  }
  return read.ok ? ok({ asset: null, assets: read.value.assets }) : read;
}
