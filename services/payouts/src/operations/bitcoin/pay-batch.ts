import { DUST, INPUT_VIRTUAL_BYTES, type Spend } from '@quittance/chains/bitcoin/spend';
import { crashPoint } from '@quittance/shared/crash';
import type { Lease } from '@quittance/shared/lease';
import { formatUnits, sum, type Units, units } from '@quittance/shared/money';
import { FEE_MAX } from '../../domain/bitcoin/bump.ts';
import {
  type Means,
  mostThatFit,
  needsMerging,
  paidByChange,
  planBatch,
  type Shortage,
} from '../../domain/bitcoin/plan.ts';
import type { BitcoinPorts } from '../../ports.ts';
import { type Payout, reservedPayouts } from '../../store/payouts.ts';
import {
  type Coin,
  comingChange,
  nextChangeIndex,
  postponeCoins,
  spendableCoins,
  spendableSum,
} from '../../store/utxos.ts';
import { failUnsigned } from '../fail-unsigned.ts';
import { keepLease } from '../keep-lease.ts';
import { sendTransaction } from '../send-transaction.ts';
import { sayBarred } from '../signing-pause.ts';
import { missingCoins } from './missing-utxos.ts';
import { signBatch } from './sign-batch.ts';
import { spendable } from './terms.ts';

const DECIMALS = 8;
/** The largest ones: signing takes a moment for each, and more with each other. */
const COINS_MAX = 200;
/** As many as are looked at, oldest first. */
const QUEUE_MAX = 500;
const TRIES_MAX = 20;
/** A coin that the chain does not have may come back with the next block, or never. */
const COIN_AGAIN_AFTER_MS = 60_000;

/** What the next transaction does. Without payouts it only makes one coin of many. */
type Next = { payouts: Payout[]; spend: Spend };

/**
 * Pays the oldest payouts that our coins cover, with one transaction.
 * @returns how many are paid by it, or found impossible; 0 means that nobody can be paid at the moment.
 */
export async function payBatch(ports: BitcoinPorts, lease: Lease): Promise<number> {
  const { db, sender, assets: payable } = ports;
  const oldest = await reservedPayouts(db, new Map(payable.map((asset) => [asset, '0'])), QUEUE_MAX);
  const [queue, impossible] = partition(oldest, (payout) => canBePaid(ports, payout));
  for (const payout of impossible) await failUnsigned(ports, lease, payout);
  if (queue.length === 0) return impossible.length;
  const coins = await usableCoins(ports);
  if (coins === undefined) return impossible.length;

  const finalHeight = await sender.finalizedHeight();
  const { next, changeIndex } = await chooseNext(ports, queue, coins);
  crashPoint('bitcoin.planned');
  if (next === undefined || (await foreignCoins(ports, coins, next.spend)).length > 0)
    return impossible.length;
  const { payouts, spend } = next;
  await keepLease(ports, lease);
  const minConfirmations = Math.max(...queue.map((payout) => payout.minConfirmations));
  const order = { payouts, spend, changeIndex, finalHeight, minConfirmations };
  const transaction = await signBatch(ports, lease, order);
  if (transaction === undefined) return impossible.length;
  await sendTransaction(ports, transaction);
  return impossible.length + Math.max(payouts.length, 1);
}

/** One whose amount is covered and whose fee is not is passed over like any other that waits for money. */
async function chooseNext(
  ports: BitcoinPorts,
  queue: readonly Payout[],
  all: readonly Coin[],
): Promise<{ next: Next | undefined; changeIndex: number }> {
  const { db, sender, clock } = ports;
  const feeRate = await sender.feeRate();
  // To spend a smaller coin costs more than it is worth.
  const inputFee = units(INPUT_VIRTUAL_BYTES * feeRate);
  const coins = all.filter(({ amount }) => amount > inputFee);
  const means = await meansOf(ports, coins, inputFee);
  const changeIndex = await nextChangeIndex(db);
  let left = [...queue];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const plan = planBatch(left, means, clock.now());
    if (plan.short !== undefined) complain(ports, plan.short);
    const isForMerging = needsMerging(plan, means);
    const chosen = mostThatFit(plan.pay.length, (count) =>
      select(ports, { payouts: plan.pay.slice(0, count), coins, feeRate, changeIndex }),
    );
    if (chosen !== undefined) {
      return { next: { payouts: plan.pay.slice(0, chosen.count), spend: chosen.fit }, changeIndex };
    }
    const stuck = isForMerging ? plan.waiting[0] : plan.pay[0];
    if (stuck === undefined) break;
    const needs = units(stuck.amount + inputFee * BigInt(coins.length));
    if (paidByChange(needs, means)) break;
    if (means.beyond > 0n) {
      const next = merge(ports, { coins, feeRate, changeIndex });
      if (next !== undefined) return { next, changeIndex };
    } else if (means.coming > 0n) break;
    // Neither it nor a merge can be had at this fee: those behind it do not wait for that.
    complain(ports, { has: means.free, needs, payouts: 1 });
    left = left.filter((payout) => payout !== stuck);
  }
  return { next: undefined, changeIndex };
}

async function meansOf({ db, chain }: BitcoinPorts, coins: readonly Coin[], inputFee: Units): Promise<Means> {
  const free = sum(coins.map(({ amount }) => amount));
  const coming = await comingChange(db, chain);
  const all = coins.length < COINS_MAX ? free : await spendableSum(db, chain, inputFee);
  return { free, coming, beyond: units(all > free ? all - free : 0n) };
}

/** Nodes relay no dust; and what is no address here any more was one when it was asked for, on another network. */
const canBePaid = ({ checkAddress }: BitcoinPorts, { address, amount }: Payout): boolean =>
  amount >= DUST && checkAddress(address) !== undefined;

function partition<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

/** The coins that the chain has as well; undefined when one was spent that nobody here spent. */
async function usableCoins(ports: BitcoinPorts): Promise<Coin[] | undefined> {
  const { db, chain, clock, signingBar, notices } = ports;
  const coins = await spendableCoins(db, chain, COINS_MAX);
  const { spent, absent } = await missingCoins(ports, coins);
  const [strange] = spent;
  if (strange !== undefined || signingBar.reason !== undefined) {
    signingBar.reason ??= `${strange?.outpoint} was spent by a transaction that this database does not know`;
    sayBarred(ports);
    return undefined;
  }
  if (absent.length > 0) {
    await postponeCoins(db, absent, new Date(clock.now().getTime() + COIN_AGAIN_AFTER_MS));
    const said = { chain, outpoints: absent.map(({ outpoint }) => outpoint).slice(0, 10) };
    notices.say('error', `coins.absent.${absent[0]?.outpoint}`, said, 'the chain does not have these coins');
  }
  return coins.filter((coin) => !absent.includes(coin));
}

/** Coins whose keys do not derive from our words: they could not be signed for, and others are used in a while. */
async function foreignCoins(ports: BitcoinPorts, coins: readonly Coin[], spend: Spend): Promise<Coin[]> {
  const { db, sender, clock, notices } = ports;
  const chosen = new Set(spend.coins.map(({ outpoint }) => outpoint));
  const foreign = coins.filter(
    ({ outpoint, branch, index, address }) =>
      chosen.has(outpoint) && sender.address(branch, index) !== address,
  );
  for (const { outpoint, address, branch, index } of foreign) {
    const said = { outpoint, address, branch, index, derived: sender.address(branch, index) };
    const trouble = 'the address of a coin does not derive from WALLET_SEED, it cannot be spent';
    notices.say('error', `coin.foreign.${outpoint}`, said, trouble);
  }
  const retryAt = new Date(clock.now().getTime() + COIN_AGAIN_AFTER_MS);
  if (foreign.length > 0) await postponeCoins(db, foreign, retryAt);
  return foreign;
}

type Terms = { coins: readonly Coin[]; feeRate: bigint; changeIndex: number };

/** A transaction that pays these payouts; undefined when there is none. */
function select(
  { sender, notices }: BitcoinPorts,
  { payouts, coins, feeRate, changeIndex }: Terms & { payouts: readonly Payout[] },
): Spend | undefined {
  const spend = sender.selectCoins({
    available: coins.map(spendable),
    recipients: payouts.map(({ address, amount }) => ({ to: address, amount })),
    changeIndex,
    feeRate,
    feeMax: FEE_MAX,
  });
  if (typeof spend !== 'string') return spend;
  if (spend !== 'not_enough') {
    const said = { payouts: payouts.length, fee_rate: feeRate.toString() };
    notices.say('warn', `selection.${spend}`, said, `a transaction for these payouts would be ${spend}`);
  }
  return undefined;
}

/** A transaction that makes one coin of many. */
function merge({ sender, notices }: BitcoinPorts, { coins, feeRate, changeIndex }: Terms): Next | undefined {
  const required = coins.map(spendable);
  const order = { available: [], required, recipients: [], changeIndex, feeRate, feeMax: FEE_MAX };
  const spend = sender.selectCoins(order);
  if (typeof spend !== 'string' && spend.change !== null) return { payouts: [], spend };
  const said = { coins: coins.length, fee_rate: feeRate.toString() };
  notices.say('warn', 'merge', said, 'many small coins cannot be made one large one at this fee');
  return undefined;
}

function complain({ chain, sender, notices }: BitcoinPorts, { has, needs, payouts }: Shortage): void {
  const said = {
    chain,
    address: sender.hotAddress,
    asset: 'BTC',
    has: formatUnits(has, DECIMALS),
    needs: formatUnits(needs, DECIMALS),
    payouts,
  };
  notices.say('error', 'short.BTC', said, 'payouts wait: all our coins together are too little BTC');
}
