import { getBase58Decoder, getBase64Encoder } from '@solana/kit';
import type { Ask, DivergentProtocol, Left, Told } from './divergent-node.ts';

type Commitment = { commitment?: string };
type Status = { slot: number; confirmationStatus: string } | null;
type Statuses = { context: { slot: number }; value: Status[] };
type Block = { blockhash: string; previousBlockhash: string; parentSlot: number };

const STRAYED = 'dead';
const NO_BLOCK = (slot: number): Told => ({
  error: { code: -32_004, message: `Block not available for slot ${slot}` },
});
/** Of the wire format: how many signatures there are, in one byte where they are few, and then the first. */
const SIGNATURE = { from: 1, to: 65 };

const slotAt = async (ask: Ask, commitment: string): Promise<number> =>
  (await ask('getSlot', [{ commitment }])).result as number;
const otherOf = (hash: string) => `${hash.slice(0, -STRAYED.length)}${STRAYED}`;
const isFinal = (config: unknown): boolean => (config as Commitment | undefined)?.commitment === 'finalized';

/** The JSON-RPC of a Solana node; heights are slots. */
export const solanaProtocol: DivergentProtocol = {
  heights: async (ask) => ({ at: await slotAt(ask, 'confirmed'), final: await slotAt(ask, 'finalized') }),

  async tell(left, method, params, ask, differs) {
    if (left.how === 'diverge') return await tellStrayed(left, method, params, ask, differs);
    const upTo = (config: unknown) => (isFinal(config) ? left.final : left.at);
    const told = await ask(method, params);
    if (told.result == null) return told;
    switch (method) {
      case 'getSlot':
        return lower(told.result as number, upTo(params[0]), differs);
      case 'getBlockHeight': {
        const slot = await slotAt(ask, isFinal(params[0]) ? 'finalized' : 'confirmed');
        const height = told.result as number;
        return lower(height, height - Math.max(0, slot - upTo(params[0])), differs);
      }
      case 'getEpochInfo': {
        const epoch = told.result as { absoluteSlot: number; blockHeight: number };
        const behind = Math.max(0, epoch.absoluteSlot - upTo(params[0]));
        if (behind > 0) differs();
        return {
          result: {
            ...epoch,
            absoluteSlot: epoch.absoluteSlot - behind,
            blockHeight: epoch.blockHeight - behind,
          },
        };
      }
      case 'getBlocksWithLimit': {
        const slots = told.result as number[];
        const known = slots.filter((slot) => slot <= upTo(params[2]));
        if (known.length < slots.length) differs();
        return { result: known };
      }
      case 'getBlock': {
        const slot = params[0] as number;
        if (slot <= upTo(params[1])) return told;
        differs();
        return NO_BLOCK(slot);
      }
      default:
        return transactionsUpTo(left, method, params, told, differs);
    }
  },

  sends: 'sendTransaction',
  async nameOf(raw) {
    return getBase58Decoder().decode(getBase64Encoder().encode(raw).slice(SIGNATURE.from, SIGNATURE.to));
  },
  refusal: { code: -32_003, message: 'Transaction signature verification failure' },

  unknown(method, [signatures], { result }) {
    if (method !== 'getSignatureStatuses') return undefined;
    const { context, value } = result as Statuses;
    if (value[0]?.confirmationStatus === 'finalized') return undefined;
    const [signature] = signatures as string[];
    return { name: String(signature), says: { result: { context, value: [null] } } };
  },
};

function lower(real: number, most: number, differs: () => void): Told {
  if (real > most) differs();
  return { result: Math.min(real, most) };
}

/** What it knows of transactions: nothing of those in later blocks, and how final the others were. */
function transactionsUpTo(
  left: Left,
  method: string,
  params: readonly unknown[],
  told: Told,
  differs: () => void,
): Told {
  const upTo = isFinal(params[1]) ? left.final : left.at;
  switch (method) {
    case 'getSignatureStatuses': {
      const { context, value } = told.result as Statuses;
      const seen = value.map((status) => {
        if (status === null || status.slot <= left.final) return status;
        differs();
        return status.slot <= left.at ? { ...status, confirmationStatus: 'confirmed' } : null;
      });
      return { result: { context: { ...context, slot: Math.min(context.slot, left.at) }, value: seen } };
    }
    case 'getTransaction': {
      if ((told.result as { slot: number }).slot <= upTo) return told;
      differs();
      return { result: null };
    }
    case 'getSignaturesForAddress':
      return { result: (told.result as { slot: number }[]).filter(({ slot }) => slot <= upTo) };
    default:
      return told;
  }
}

async function tellStrayed(
  left: Left,
  method: string,
  params: readonly unknown[],
  ask: Ask,
  differs: () => void,
): Promise<Told> {
  const told = await ask(method, params);
  if (told.result == null) return told;
  if (method !== 'getBlock') {
    // None of the others' transactions is in a block of its own.
    return transactionsUpTo({ ...left, final: left.at }, method, params, told, differs);
  }
  const slot = params[0] as number;
  if (slot <= left.at) return told;
  differs();
  const block = told.result as Block;
  return {
    result: {
      ...block,
      blockhash: otherOf(block.blockhash),
      previousBlockhash:
        block.parentSlot > left.at ? otherOf(block.previousBlockhash) : block.previousBlockhash,
      ...('transactions' in block ? { transactions: [] } : {}),
    },
  };
}
