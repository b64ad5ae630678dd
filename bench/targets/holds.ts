import { connectBus } from '@quittance/shared/bus';
import type { RequestOf } from '@quittance/shared/commands';
import { readSigningKey } from '@quittance/shared/gateway-keys';
import { signIdentity } from '@quittance/shared/identity';
import { type AccountId, newPayoutId, pooledBytes } from '@quittance/shared/ids';
import { createLogger } from '@quittance/shared/logger';
import { invariant } from '@quittance/shared/result';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Benchmark, Sample } from '../benchmark.ts';
import { drive } from '../drive.ts';
import { type Lab, processesOf } from '../lab.ts';
import { fundedAccounts } from '../yardsticks/ledger-accounts.ts';
import { openTpcB } from '../yardsticks/tpc-b.ts';

const CLIENTS = 32;
const HOT_CLIENTS = 16;
const ACCOUNTS = 2_000;
const SECONDS = 3;
/** Requests that are signed before the time is taken: the gateway signs them, and neither payouts nor the ledger. */
const SIGNED = 12_000;
const ADDRESS = `0x${'ab'.repeat(20)}`;
const FEE = '1000';

export const holdsDistinct: Benchmark = {
  name: 'holds',
  what: 'hold.place over NATS with the request that asks for it, 2,000 accounts, 32 callers at a time.',
  yardstick: 'TPC-B transactions of pgbench at their best, 16 clients, the same server',
  target: { atLeast: 0.8 },
  unit: '/s',
  async setUp(lab) {
    const { quittance, accounts, desk } = await openAccounts(lab);
    const tpcB = await openTpcB(quittance.stack.engines.postgres.url);
    return {
      ours: () => desk.measure(accounts, CLIENTS),
      theirs: () => tpcB.measure(SECONDS),
      close: desk.close,
      processes: processesOf(quittance),
    };
  },
};

export const holdsHot: Benchmark = {
  name: 'holds-hot',
  what: 'hold.place over NATS of one account, 16 callers at a time.',
  yardstick: 'the same of 2,000 accounts',
  target: { atLeast: 0.8 },
  unit: '/s',
  async setUp(lab) {
    const { quittance, accounts, desk } = await openAccounts(lab);
    return {
      ours: () => desk.measure(accounts.slice(0, 1), HOT_CLIENTS),
      theirs: () => desk.measure(accounts, HOT_CLIENTS),
      close: desk.close,
      processes: processesOf(quittance),
    };
  },
};

async function openAccounts(lab: Lab) {
  const quittance = await lab.quittance();
  return {
    quittance,
    accounts: await fundedAccounts(quittance, ACCOUNTS),
    desk: await openDesk(quittance),
  };
}

/** Asks the ledger for holds as payouts does. */
async function openDesk({ stack }: Quittance) {
  const logger = createLogger('bench', 'error');
  const bus = await connectBus({ url: stack.busUrl('payouts'), service: 'payouts', logger });
  const key = readSigningKey(stack.secrets.gatewayPrivateKey);
  invariant(key !== undefined, 'the gateway of the stack has a key');
  const body = Buffer.from(JSON.stringify({ asset: 'ETH', amount: '0.000000000000001', address: ADDRESS }));
  const route = { method: 'POST', path: '/api/payouts' };
  const requestOf = (account: AccountId): RequestOf<'hold.place'> => ({
    ...{
      payout_id: newPayoutId(pooledBytes),
      account_id: account,
      asset: 'ETH',
      amount: '1000',
      network_fee: FEE,
    },
    ...{ deposit_id: null, invoice_id: null, destination: ADDRESS },
    proof: {
      ...route,
      assertion: signIdentity(key, { account }, { receiver: 'payouts', ...route, body }, new Date()),
      body: body.toString('base64'),
      item: 0,
    },
  });
  return {
    async measure(accounts: readonly AccountId[], clients: number): Promise<Sample> {
      const next = (i: number) => requestOf(accounts[i % accounts.length] as AccountId);
      const requests = Array.from({ length: SIGNED }, (_, i) => next(i));
      let i = 0;
      return await drive(
        async () => {
          const answer = await bus.ask('hold.place', requests[i] ?? next(i));
          i += 1;
          if (!answer.known || answer.reply.outcome !== 'placed')
            throw new Error(`hold.place answers ${JSON.stringify(answer)}`);
        },
        clients,
        SECONDS,
      );
    },
    close: () => bus.close(),
  };
}
