import { type AssetSymbol, assetSymbols, assets } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import type { PayoutChain, Ports } from '../ports.ts';
import { spendableSum, unsweptSums } from '../store/operator-reads.ts';

/** Of one asset: what its hot wallet has, undefined while its node does not answer, and what can be swept into it. */
export type AssetFloat = { asset: AssetSymbol; balance: Units | undefined; unswept: Units };

/** Nodes are not asked again before. */
const KEPT_MS = 15_000;
const ANSWER_WITHIN_MS = 3_000;

type Kept = { at: number; balance: Promise<Units | undefined> };
export type KnownBalances = Map<string, Kept>;

/** What can be paid from each hot wallet. `known` keeps what nodes have said, however often it is asked for. */
export async function readFloat(ports: Ports, known: KnownBalances): Promise<Map<string, AssetFloat[]>> {
  const unswept = await unsweptSums(ports.db);
  const chains = await Promise.all(
    [...ports.chains.values()].map(async (on): Promise<[string, AssetFloat[]]> => {
      const ofChain = assetSymbols.filter(
        (asset) => assets[asset].chain === on.chain && on.assets.includes(asset),
      );
      const float = ofChain.map(async (asset): Promise<AssetFloat> => {
        const there = unswept.find((one) => one.asset === asset)?.amount ?? (0n as Units);
        return { asset, balance: await balanceOf(ports, on, asset, known), unswept: there };
      });
      return [on.chain, await Promise.all(float)];
    }),
  );
  return new Map(chains);
}

/** A node of Bitcoin would read all outputs there are: what is ours is in the database. */
function balanceOf(
  { db, clock }: Ports,
  { kind, chain, sender }: PayoutChain,
  asset: AssetSymbol,
  known: KnownBalances,
): Promise<Units | undefined> {
  if (kind === 'bitcoin') return spendableSum(db, chain);
  const now = clock.now().getTime();
  const kept = known.get(asset);
  if (kept !== undefined && now - kept.at < KEPT_MS) return kept.balance;
  const balance = answeredInTime(sender.balance(asset, sender.hotAddress));
  known.set(asset, { at: now, balance });
  return balance;
}

async function answeredInTime(asked: Promise<Units>): Promise<Units | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ANSWER_WITHIN_MS);
  });
  try {
    // A node that is away is a balance that is not known: the chains page says so.
    return await Promise.race([asked.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
