import { DUST, type Spend } from '@quittance/chains/bitcoin/spend';
import { crashPoint } from '@quittance/shared/crash';
import type { Lease } from '@quittance/shared/lease';
import { formatUnits, sum } from '@quittance/shared/money';
import { FEE_MAX } from '../../domain/bitcoin/bump.ts';
import { BATCH_MAX, mostThatFit, planBatch, type Shortage } from '../../domain/bitcoin/plan.ts';
import type { BitcoinPorts } from '../../ports.ts';
import {
  type Coin,
  comingChange,
  nextChangeIndex,
  postponeCoins,
  spendableCoins,
} from '../../store-coins.ts';
import { type Payout, reservedPayouts } from '../../store-payouts.ts';
import { failUnsigned } from '../fail-unsigned.ts';
import { keepLease } from '../keep-lease.ts';
import { sayBarred } from '../say-barred.ts';
import { sendTransaction } from '../send-transaction.ts';
import { missingCoins } from './missing-coins.ts';
import { signBatch } from './sign-batch.ts';
import { spendable } from './terms.ts';

const DECIMALS = 8;
/** The largest ones: more would not go into one transaction. */
const COINS_MAX = 1_000;
/** A coin that the chain does not have may come back with the next block, or never. */
const COIN_AGAIN_AFTER_MS = 60_000;

/**
 * Pays the oldest payouts that our coins cover, with one transaction.
 * @returns how many are paid by it, or found impossible; 0 means that nobody can be paid at the moment.
 */
export async function payReserved(ports: BitcoinPorts, lease: Lease): Promise<number> {
  const { db, chain, sender, clock } = ports;
  const oldest = await reservedPayouts(db, new Map([['BTC', '0']]), BATCH_MAX);
  if (oldest.length === 0) return 0;
  const [queue, impossible] = partition(oldest, (payout) => canBePaid(ports, payout));
  for (const payout of impossible) await failUnsigned(ports, lease, payout);
  const coins = await usableCoins(ports);
  if (coins === undefined) return impossible.length;
  const means = {
    free: sum(coins.map(({ amount }) => amount)),
    coming: await comingChange(db, chain),
  };
  const plan = planBatch(queue, means, clock.now());
  if (plan.short !== undefined) complain(ports, plan.short);
  if (plan.pay.length === 0) return impossible.length;

  const feeRate = await sender.feeRate();
  const finalHeight = await sender.finalizedHeight();
  const changeIndex = await nextChangeIndex(db);
  const chosen = mostThatFit(plan.pay.length, (count) =>
    select(ports, { payouts: plan.pay.slice(0, count), coins, feeRate, changeIndex }),
  );
  crashPoint('payouts.planned');
  if (chosen === undefined) {
    notEnoughForTheFee(ports, plan.pay, means.free);
    return impossible.length;
  }
  const foreign = foreignCoins(ports, coins, chosen.fit);
  if (foreign.length > 0) {
    await postponeCoins(db, foreign, new Date(clock.now().getTime() + COIN_AGAIN_AFTER_MS));
    return 0;
  }
  await keepLease(ports, lease);
  const order = {
    payouts: plan.pay.slice(0, chosen.count),
    spend: chosen.fit,
    changeIndex,
    finalHeight,
  };
  const transaction = await signBatch(ports, lease, order);
  if (transaction === undefined) return 0;
  await sendTransaction(ports, transaction);
  return order.payouts.length;
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

/** Coins whose keys do not derive from our words: they could not be signed for, and others are used instead. */
function foreignCoins({ sender, notices }: BitcoinPorts, coins: readonly Coin[], spend: Spend): Coin[] {
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
  return foreign;
}

type Selection = { payouts: readonly Payout[]; coins: readonly Coin[]; feeRate: bigint; changeIndex: number };

function select({ sender, notices }: BitcoinPorts, { payouts, coins, feeRate, changeIndex }: Selection) {
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

function notEnoughForTheFee(ports: BitcoinPorts, payouts: readonly Payout[], has: Shortage['has']): void {
  const [first] = payouts;
  if (first !== undefined) complain(ports, { has, needs: first.amount, payouts: payouts.length });
}
