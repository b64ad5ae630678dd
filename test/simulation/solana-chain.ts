import type { Block, ChainReader, Payment, PendingLook } from '@quittance/chains/chain';
import type { SolanaNetwork } from '@quittance/chains/solana/network';
import { checkAddress } from '@quittance/chains/solana/wallet';
import type { AssetSymbol } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';
import type { Ask, SimChain, SimChainOptions } from './chain.ts';
import { address, DEPOSIT, HOT, ours } from './solana-addresses.ts';
import { FINAL_LAG, isOurs, SolanaNet, type SolBlock, type SolMined } from './solana-net.ts';
import { type SolanaView, senderOf, signerOf } from './solana-sender.ts';

/** Millionths of a lamport for each unit of work: what a node advises, and what blocks then ask for. */
const PRICES = {
  usual: { advice: 10_000n, least: 0n },
  high: { advice: 400_000n, least: 300_000n },
} as const;
const UNITS_OF = { SOL: 10n ** 8n, USDC_SOL: 10n ** 6n } as const;

/** Solana for the simulator; bytes are words that say what they move, in place of signatures. */
export function createSolanaChain({ random, now }: SimChainOptions): SimChain<'solana'> {
  const net = new SolanaNet(now(), random);
  const network: SolanaNetwork = { name: 'local', usdcMint: address('stranger', 1_000_000) };
  let fees: keyof typeof PRICES = 'usual';
  const hot = address(HOT, 0);
  /** Recipients whose refusal a trial does not find. */
  const unforeseen = new Set<string>();

  const mine = (blocks: number) => {
    for (let i = 0; i < blocks; i++) net.mine(now());
  };
  const view: SolanaView = { net, hot, unforeseen, random, priorityFee: () => PRICES[fees].advice };
  return {
    kind: 'solana',
    chain: 'solana',
    assets: ['SOL', 'USDC_SOL'],
    minConfirmations: 1,
    settlesAfter: 1 + FINAL_LAG,
    unit: (asset) => UNITS_OF[asset as keyof typeof UNITS_OF],
    blockMs: 3_000,

    reader: (ask) => readerOf(net, ask),
    sender: (ask) => senderOf(view, ask),
    signer: signerOf(hot),

    depositAddress: (index) => address(DEPOSIT, index),
    hotAddress: hot,
    isOurAddress: (text) => ours.has(text),
    checkAddress: (text) => checkAddress(network, text),
    recipient: (n) => address('stranger', n),
    refuseAt(to) {
      net.refuseAt(to);
      if (random() < 0.5) unforeseen.add(to);
    },

    fundHot(asset, amount) {
      net.pay({ asset, to: hot, amount });
      mine(1 + FINAL_LAG);
    },
    pay: (order) => net.pay(order),
    replace: (txHash) => net.takeBack(txHash),
    forgetPool: () => net.loseWaiting(),
    mineOld: () => net.mineOld(now()),
    mine: (blocks = 1) => mine(blocks),
    reorg: (depth, fate) => net.reorg(now(), depth, fate),
    height: () => net.tip.height,
    isWaiting: () => net.isWaiting() || net.confirmedBlocks().some(({ mined }) => mined.length > 0),
    setFees(level) {
      fees = level;
      net.leastPrice = PRICES[level].least;
    },

    truth: () =>
      net.blocks.flatMap((block) =>
        block.mined.flatMap((one) =>
          paymentsOf(one).map(({ outpoint, txHash, asset, address: to, amount }) => ({
            txHash: txHash ?? '',
            outpoint,
            asset,
            to,
            amount,
            height: block.slot,
            // What is not final does not count yet.
            confirmations: Math.max(0, net.final.slot - block.slot + 1),
            isOurs: isOurs(one.transaction),
          })),
        ),
      ),
    balance: (asset, owner) => net.balance(asset, owner, 'confirmed'),
  };
}

/** By what everybody has more; named by the place of the account among those of the transaction. */
function paymentsOf({ transaction, succeeded }: SolMined): Payment[] {
  if (!succeeded) return [];
  const { hash, signers, moves } = transaction;
  const owners = [...new Set([...signers, ...moves.flatMap(({ from, to }) => [from, to])])];
  const gains = new Map<string, { asset: AssetSymbol; owner: string; amount: bigint }>();
  const add = (asset: AssetSymbol, owner: string, amount: bigint) => {
    const gain = gains.get(`${asset} ${owner}`) ?? { asset, owner, amount: 0n };
    gain.amount += amount;
    gains.set(`${asset} ${owner}`, gain);
  };
  for (const { asset, from, to, amount } of moves) {
    add(asset, from, -amount);
    add(asset, to, amount);
  }
  return [...gains.values()]
    .filter(({ amount }) => amount > 0n)
    .map(({ asset, owner, amount }) => {
      const outputIndex = owners.indexOf(owner);
      const outpoint = `${hash}:${outputIndex}`;
      return { outpoint, txHash: hash, outputIndex, asset, address: owner, amount: units(amount) };
    });
}

function blockOf({ slot, hash, parentHash, time, mined }: SolBlock): Block {
  return { height: slot, hash, parentHash, time, payments: mined.flatMap(paymentsOf), spends: [] };
}

function readerOf(net: SolanaNet, ask: Ask): ChainReader {
  const atSlot = (slot: number) => net.finalBlocks().findLast((block) => block.slot === slot);
  return {
    chain: 'solana',
    check: async () => {},
    head: () => ask('head', () => ({ height: net.final.slot, hash: net.final.hash, time: net.final.time })),
    block: (height) =>
      ask('block', () => {
        const found = atSlot(height);
        return found && blockOf(found);
      }),
    async blocksAfter(height, limit) {
      const slots = await ask('blocksAfter', () =>
        net
          .finalBlocks()
          .filter(({ slot }) => slot > height)
          .slice(0, limit)
          .map(({ slot }) => slot),
      );
      const blocks: Block[] = [];
      for (const slot of slots) {
        const found = await ask('block', () => atSlot(slot));
        if (found === undefined) throw new Error(`no block at slot ${slot}, which was named`);
        blocks.push(blockOf(found));
      }
      return blocks;
    },
    hashAt: (height) => ask('hashAt', () => atSlot(height)?.hash),
    watchPending() {
      let told = new Set<string>();
      return {
        look: (): Promise<PendingLook> =>
          ask('pending', () => {
            const waiting = net.confirmedBlocks();
            const fresh = waiting
              .filter(({ hash }) => !told.has(hash))
              .flatMap(({ mined }) => mined.flatMap(paymentsOf));
            told = new Set(waiting.map(({ hash }) => hash));
            const hashes = new Set(
              waiting.flatMap(({ mined }) => mined.map(({ transaction }) => transaction.hash)),
            );
            return { fresh, has: (txHash) => hashes.has(txHash), height: net.final.slot };
          }),
      };
    },
    close: async () => {},
  };
}
