import { readSignature, type Signature, type SigningOrder, toWire } from '@quittance/chains/signing';
import type { Chain } from '@quittance/shared/assets';
import type { Asked, Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { ReplyOf } from '@quittance/shared/commands';
import type { PayoutId } from '@quittance/shared/ids';

/** What is to be signed, with the payouts that it pays, in the order of its recipients. */
export type OrderToSign = { order: SigningOrder; payouts: readonly PayoutId[] };

export type SignatureRequest = {
  chain: Chain;
  /** Nothing is signed that was not signed before. */
  onlyKnown: boolean;
  orders: readonly OrderToSign[];
};

/** Why the first order without a signature was refused, see `transactions.sign`. */
export type Refusal = NonNullable<ReplyOf<'transactions.sign'>['refused']>;

/** Signatures of the first orders; `refused` is null when all are signed. */
export type Signatures = { signed: Signature[]; refused: Refusal | null };

/** Asks for signatures. Not known: whether anything was signed cannot be told, and the same must be asked again. */
export type TransactionSigner = { sign(request: SignatureRequest): Promise<Asked<Signatures>> };

/** The signer service, over NATS. */
export const busSigner = (bus: Pick<Bus, 'ask'>, clock: Clock): TransactionSigner => ({
  async sign({ chain, onlyKnown, orders }) {
    const asked = await bus.ask('transactions.sign', {
      chain,
      asked_at: clock.now().toISOString(),
      only_known: onlyKnown,
      orders: orders.map(({ order, payouts }) => ({ order: toWire(order), payouts: [...payouts] })),
    });
    if (!asked.known) return asked;
    const { signed, refused } = asked.reply;
    return { known: true, reply: { signed: signed.map(readSignature), refused } };
  },
});
