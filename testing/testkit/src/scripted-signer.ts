import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { openSigner, type SignerOf } from '@quittance/chains/registry';
import type { ChainSettings } from '@quittance/chains/settings';
import {
  foreignParts,
  readOrder,
  type Signature,
  type SigningOrder,
  signOrder,
  toWire,
} from '@quittance/chains/signing';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import type { Chain, ChainKind } from '@quittance/shared/assets';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';

type Request = {
  onlyKnown: boolean;
  orders: readonly { order: SigningOrder; payouts: readonly string[] }[];
};
type Refused = { because: string; payouts: string[]; foreign: string[]; again_after_ms: number };
type Answer =
  | { known: true; reply: { signed: Signature[]; refused: Refused | null } }
  | { known: false; reason: string };

/** A signer for tests of who asks it: with the keys of one chain, and none of the checks of the service. */
export type ScriptedSigner = {
  sign(request: Request): Promise<Answer>;
  /** The same, as it comes over NATS. */
  answer(request: RequestOf<'transactions.sign'>): Promise<ReplyOf<'transactions.sign'>>;
  /** The orders that it has signed, as they came. */
  readonly asked: unknown[];
  /** Called before each request. What it returns is the answer. */
  before: (request: Request) => Promise<Answer | undefined>;
};

export function scriptedSigner<K extends ChainKind>(kind: K, keys: SignerOf<K>): ScriptedSigner {
  const known = new Set<string>();
  const signer: ScriptedSigner = {
    asked: [],
    before: async () => undefined,
    async answer({ only_known: onlyKnown, orders }) {
      const read = orders.map(({ order, payouts }) => ({
        order: readOrder<ChainKind>(kind, order),
        payouts,
      }));
      const answer = await signer.sign({ onlyKnown, orders: read });
      if (!answer.known) throw new Error(answer.reason);
      return { signed: answer.reply.signed.map(toWire), refused: answer.reply.refused };
    },
    async sign(request) {
      const answer = await signer.before(request);
      if (answer !== undefined) return answer;
      const signed: Signature[] = [];
      for (const { order, payouts } of request.orders) {
        const wire = toWire(order);
        const text = JSON.stringify(wire);
        if (request.onlyKnown && !known.has(text)) {
          const refused = {
            because: 'not signed before',
            payouts: [...payouts],
            foreign: [],
            again_after_ms: 1,
          };
          return { known: true, reply: { signed, refused } };
        }
        const read = readOrder(kind, wire);
        const foreign = foreignParts(kind, keys, read);
        if (foreign.length > 0) {
          const refused = {
            because: 'not of this wallet',
            payouts: [...payouts],
            foreign,
            again_after_ms: 60_000,
          };
          return { known: true, reply: { signed, refused } };
        }
        known.add(text);
        signer.asked.push(wire);
        signed.push(await signOrder(kind, keys, read));
      }
      return { known: true, reply: { signed, refused: null } };
    },
  };
  return signer;
}

/** The same for several chains, with the keys of a recovery phrase. */
export function signerOfPhrase(chains: readonly ChainSettings[], phrase: string) {
  const signers = new Map<Chain, ScriptedSigner>(
    chains.map((settings) => [
      settings.chain,
      scriptedSigner<ChainKind>(settings.kind, openSigner<ChainKind>(settings, phrase)),
    ]),
  );
  return {
    async sign(request: Request & { chain: Chain }): Promise<Answer> {
      const signer = signers.get(request.chain);
      if (signer === undefined) return { known: false, reason: `${request.chain} is not configured` };
      return await signer.sign(request);
    },
  };
}

/** The settings of the hot wallets of a recovery phrase. */
export const hotAddressesOf = (phrase: string): Record<string, string> => ({
  BITCOIN_HOT_ADDRESS: openBitcoinWallet('regtest', phrase).hotAddress,
  ...Object.fromEntries(
    ['ETHEREUM', 'BASE', 'POLYGON'].map((chain) => [`${chain}_HOT_ADDRESS`, openWallet(phrase).hotAddress]),
  ),
  SOLANA_HOT_ADDRESS: openSolanaWallet(phrase).hotAddress,
});
