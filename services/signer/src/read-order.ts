import { createHash } from 'node:crypto';
import { readOrder, type SigningOrder, toWire } from '@quittance/chains/signing';
import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import type { RequestOf } from '@quittance/shared/commands';
import type { Units } from '@quittance/shared/money';
import { assertNever } from '@quittance/shared/result';
import type { Payment } from './domain/clearance.ts';
import type { Exclusive, Input } from './domain/exclusion.ts';
import type { SignerChain } from './ports.ts';

export type AskedOrder = {
  order: SigningOrder;
  /** The order as JSON, and the SHA-256 of it in hex: the same order always has the same. */
  terms: unknown;
  digest: string;
  payouts: readonly string[];
  /** What it pays for each of its payouts. Undefined when these are not its recipients. */
  payments: readonly Payment[] | undefined;
  /** Bitcoin's inputs. */
  inputs: readonly Input[];
  /** The wallet whose nonce it uses up. */
  nonce: { wallet: string; nonce: number } | undefined;
  /** Until when it is valid on Solana, as the order says. */
  validToHeight: number | undefined;
};

type Recipient = { asset: AssetSymbol; to: string; amount: Units };

/** Reads what is asked for. Undefined when it is no order of this chain. */
export function readAsked(
  on: SignerChain,
  { order: wire, payouts }: RequestOf<'transactions.sign'>['orders'][number],
): AskedOrder | undefined {
  const order = orderOf(on, wire);
  if (order === undefined) return undefined;
  const terms = toWire(order);
  const digest = createHash('sha256').update(canonicalJson(terms)).digest('hex');
  const asked = { order, terms, digest, payouts, inputs: [], nonce: undefined, validToHeight: undefined };
  const pays = (recipients: readonly Recipient[]) => ({ payments: paymentsOf(on, payouts, recipients) });
  switch (on.kind) {
    case 'bitcoin': {
      const { utxos: inputs, recipients } = order as SigningOrder<'bitcoin'>;
      const asset = nativeAsset[on.chain];
      return { ...asked, ...pays(recipients.map((one) => ({ asset, ...one }))), inputs };
    }
    case 'evm': {
      const ofAccount = order as SigningOrder<'evm'>;
      const wallet = ofAccount.is === 'native_sweep' ? ofAccount.address : ofAccount.hot;
      const nonce = { wallet, nonce: ofAccount.nonce };
      return { ...asked, ...pays(ofAccount.is === 'transfer' ? [ofAccount] : []), nonce };
    }
    case 'solana': {
      const ofAccount = order as SigningOrder<'solana'>;
      const validToHeight = ofAccount.lifetime.lastValidBlockHeight;
      return { ...asked, ...pays(ofAccount.is === 'transfer' ? [ofAccount] : []), validToHeight };
    }
    default:
      return assertNever(on);
  }
}

function orderOf(on: SignerChain, wire: unknown): SigningOrder | undefined {
  let order: SigningOrder;
  try {
    order = readOrder(on.kind, wire);
  } catch {
    return undefined;
  }
  // Of another chain, or a token that is not configured, which would be signed for as if it were the native asset.
  return 'asset' in order && !on.assets.includes(order.asset) ? undefined : order;
}

function paymentsOf(
  { checkAddress }: SignerChain,
  payouts: readonly string[],
  recipients: readonly Recipient[],
): Payment[] | undefined {
  if (payouts.length !== recipients.length || new Set(payouts).size < payouts.length) return undefined;
  const payments = recipients.map(({ asset, to, amount }, i) => {
    const address = checkAddress(to);
    const payout = payouts[i];
    return address === undefined || payout === undefined ? undefined : { payout, asset, amount, to: address };
  });
  return payments.includes(undefined) ? undefined : (payments as Payment[]);
}

/** What decides whether another transaction and this one can both be mined. */
export function exclusiveOf(
  { chain, kind }: SignerChain,
  { nonce, inputs }: Pick<AskedOrder, 'nonce' | 'inputs'>,
): Exclusive {
  if (nonce !== undefined) return { kind: 'evm', chain, ...nonce };
  return kind === 'bitcoin' ? { kind, inputs } : { kind: 'solana', isOver: false };
}

/** Names in one order, so that the same order always has the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
