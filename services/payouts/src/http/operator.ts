import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { takesNoParameters } from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import { operatorOnly } from '@quittance/shared/merchant-only';
import { formatUnits, type Units } from '@quittance/shared/money';
import type {
  OperatedPayouts,
  OperatedSweep,
  OperatedWallet,
  StalledPayout,
} from '@quittance/shared/operator-views';
import type { Express } from 'express';
import { type AssetFloat, type KnownBalances, readFloat } from '../operations/read-float.ts';
import { chainLease } from '../operations/run-chain-worker.ts';
import type { PayoutChain, Ports } from '../ports.ts';
import { haltedAssets } from '../store/halts.ts';
import {
  heldLeases,
  lastSweeps,
  payoutQueues,
  type StalledRow,
  type Sweep,
  stalledRows,
} from '../store/operator-reads.ts';

const STALLED_MAX = 100;
const SWEEPS_MAX = 50;

/** What the console of operators asks payouts, behind the gateway. */
export function routeOperator(app: Express, ports: Ports): void {
  const operator = operatorOnly('payouts', ports.settings.gatewayKeys, ports.clock);
  const known: KnownBalances = new Map();
  app.get('/api/operator/payouts', operator, takesNoParameters, async (_req, res) =>
    send(res, { status: 200, body: await operatedPayouts(ports, known) }),
  );
}

async function operatedPayouts(ports: Ports, known: KnownBalances): Promise<OperatedPayouts> {
  const { db } = ports;
  const chains = [...ports.chains.values()];
  const [queues, stalled, sweeps, paused, leases, float] = await Promise.all([
    payoutQueues(db),
    stalledRows(db, STALLED_MAX),
    lastSweeps(db, SWEEPS_MAX),
    haltedAssets(db),
    heldLeases(db, chains.map(chainLease)),
    readFloat(ports, known),
  ]);
  return {
    queues: queues.map(({ oldestAt, ...queue }) => ({ ...queue, oldest_at: oldestAt.toISOString() })),
    stalled: stalled.map(stalledView),
    wallets: chains.map((on) => walletView(on, leases.has(chainLease(on)), float.get(on.chain) ?? [])),
    sweeps: sweeps.map(sweepView),
    paused_assets: [...paused],
  };
}

const amountOf = (amount: Units, asset: AssetSymbol): string => formatUnits(amount, assets[asset].decimals);

const stalledView = (payout: StalledRow): StalledPayout => ({
  id: payout.id,
  account_id: payout.account,
  asset: payout.asset,
  amount: amountOf(payout.amount, payout.asset),
  status: payout.status,
  created_at: payout.createdAt.toISOString(),
  refused_because: payout.refusedBecause,
});

const walletView = (
  { chain, sender, signingPause }: PayoutChain,
  hasLeader: boolean,
  float: readonly AssetFloat[],
): OperatedWallet => ({
  chain,
  hot_address: sender.hotAddress,
  signing_paused: signingPause.reason ?? null,
  has_leader: hasLeader,
  float: float.map(({ asset, balance, unswept }) => ({
    asset,
    balance: balance === undefined ? null : amountOf(balance, asset),
    unswept: amountOf(unswept, asset),
  })),
});

const sweepView = (sweep: Sweep): OperatedSweep => ({
  id: sweep.id,
  chain: sweep.chain,
  asset: sweep.asset,
  amount: amountOf(sweep.amount, sweep.asset),
  address: sweep.address,
  state: sweep.state,
  tx_hash: sweep.txHash,
  created_at: sweep.createdAt.toISOString(),
});
