import type { Ask, DivergentProtocol, Left, Told } from './divergent-node.ts';

type Header = {
  hash: string;
  height: number;
  confirmations: number;
  previousblockhash?: string;
  nextblockhash?: string;
};

/** As Bitcoin Core counts coins for spending: who has six blocks on it. */
const FINAL_AFTER = 5;
const STRAYED = 'deadbeef';
/** Bitcoin Core's own refusals. */
const OUT_OF_RANGE: Told = { error: { code: -8, message: 'Block height out of range' } };
const NO_BLOCK: Told = { error: { code: -5, message: 'Block not found' } };
const NO_TRANSACTION: Told = {
  error: {
    code: -5,
    message: 'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
  },
};

const heightNow = async (ask: Ask): Promise<number> => (await ask('getblockcount', [])).result as number;
const otherOf = (hash: string) => `${hash.slice(0, -STRAYED.length)}${STRAYED}`;

/** The JSON-RPC of Bitcoin Core. */
export const bitcoinProtocol: DivergentProtocol = {
  async heights(ask) {
    const at = await heightNow(ask);
    return { at, final: Math.max(0, at - FINAL_AFTER) };
  },

  async tell(left, method, params, ask, differs) {
    const now = await heightNow(ask);
    const top = left.how === 'lag' ? left.at : now;
    switch (method) {
      case 'getblockcount':
        if (top < now) differs();
        return { result: top };
      case 'getbestblockhash':
        return await hashAt(left, top, top, ask, differs);
      case 'getblockhash':
        return await hashAt(left, params[0] as number, top, ask, differs);
      case 'getblockheader':
      case 'getblock':
        return await blockOf(left, { method, params, top }, ask, differs);
      case 'getrawtransaction': {
        const told = await ask(method, params);
        const { blockhash, confirmations, ...waiting } = (told.result ?? {}) as Record<string, unknown>;
        if (typeof blockhash !== 'string') return told;
        const { result } = await ask('getblockheader', [blockhash]);
        if ((result as Header).height <= left.at) return told;
        differs();
        return { result: waiting };
      }
      case 'gettxout': {
        const told = await ask(method, params);
        if (told.result == null) return told;
        const output = told.result as { confirmations: number };
        const height = now - output.confirmations + 1;
        if (output.confirmations === 0) return told;
        if (height > left.at) {
          differs();
          return { result: null };
        }
        return { result: { ...output, confirmations: top - height + 1 } };
      }
      default:
        return await ask(method, params);
    }
  },

  sends: 'sendrawtransaction',
  async nameOf(raw, ask) {
    return ((await ask('decoderawtransaction', [raw])).result as { txid: string }).txid;
  },
  refusal: { code: -26, message: 'min relay fee not met' },

  unknown(method, [hash], { result }) {
    if (method !== 'getrawtransaction') return undefined;
    if ((result as { blockhash?: string } | undefined)?.blockhash !== undefined) return undefined;
    return { name: String(hash), says: NO_TRANSACTION };
  },
};

async function hashAt(left: Left, height: number, top: number, ask: Ask, differs: () => void): Promise<Told> {
  if (height <= left.at) return await ask('getblockhash', [height]);
  differs();
  if (height > top) return OUT_OF_RANGE;
  const told = await ask('getblockhash', [height]);
  return typeof told.result === 'string' ? { result: otherOf(told.result) } : told;
}

type Asked = { method: string; params: readonly unknown[]; top: number };

/** Up to where it left the chain each block has so much fewer blocks on it; beyond, it has others, or none. */
async function blockOf(
  left: Left,
  { method, params: [hash, ...how], top }: Asked,
  ask: Ask,
  differs: () => void,
): Promise<Told> {
  const real = left.how === 'diverge' ? await strayedFrom(left, String(hash), top, ask) : undefined;
  const told = await ask(method, [real ?? hash, ...how]);
  if (told.result == null) return told;
  const block = told.result as Header;
  if (block.height > left.at) differs();
  if (block.height > left.at && real === undefined) return NO_BLOCK;
  const { nextblockhash: next, ...rest } = block;
  const isNextOwn = left.how === 'diverge' && block.height >= left.at;
  const seen = {
    ...rest,
    confirmations: block.confirmations < 1 ? block.confirmations : top - block.height + 1,
    ...(next === undefined || block.height >= top ? {} : { nextblockhash: isNextOwn ? otherOf(next) : next }),
  };
  if (real === undefined) return { result: seen };
  const { previousblockhash: parent = '' } = block;
  return {
    result: {
      ...seen,
      hash: otherOf(block.hash),
      previousblockhash: block.height - 1 > left.at ? otherOf(parent) : parent,
      ...('tx' in block ? { tx: [] } : {}),
    },
  };
}

/** Whose place a block of its own has; undefined when it is none of those. */
async function strayedFrom({ at }: Left, hash: string, top: number, ask: Ask): Promise<string | undefined> {
  if (!hash.endsWith(STRAYED)) return undefined;
  for (let height = top; height > at; height--) {
    const { result } = await ask('getblockhash', [height]);
    if (typeof result === 'string' && otherOf(result) === hash) return result;
  }
  return undefined;
}
