import { randomBytes } from 'node:crypto';
import { checkAddress } from '@quittance/chains/evm/wallet';
import { handlers } from '@quittance/ledger/handlers';
import { holdBatcherOf, placeHold } from '@quittance/ledger/operations/place-hold';
import { readBalance } from '@quittance/ledger/operations/read-balance';
import type { PayoutChain, Ports } from '@quittance/payouts/ports';
import type { Bus } from '@quittance/shared/bus';
import { systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import type { EventKind, EventOf, PayloadOf } from '@quittance/shared/events';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { createLogger, throttledLog } from '@quittance/shared/logger';
import { handleBatch } from '@quittance/shared/process-messages';
import type { Quote } from '@quittance/shared/quotes';
import { Secret } from '@quittance/shared/secret';
import { noTracer } from '@quittance/shared/traces';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import { testDatabase } from '@quittance/testkit/engines';
import { type Interleaver, openInterleaver } from './interleave.ts';

/** An account's balance, what its invoice was paid with, and the network fee. */
export const [BALANCE, PAID, FEE] = [100n, 30n, 2n];

const logger = createLogger('interleavings', 'silent');

const quote = {
  asset: 'ETH',
  usd_rate: '2500',
  network_fee: FEE.toString(),
  min_confirmations: 3,
  dust: '1',
};
const quotes = { latest: () => quote as unknown as Quote, fresh: () => quote as unknown as Quote };
const chain = {
  kind: 'evm',
  chain: 'ethereum',
  sender: { hotAddress: `0x${'1'.repeat(40)}` },
  signingPause: { reason: undefined },
  assets: ['ETH'],
  checkAddress,
  explorerUrl: () => null,
} as unknown as PayoutChain;

/** The databases of payouts and the ledger. Payouts asks the ledger itself for holds. */
export async function payoutsAndLedger() {
  const database = await testDatabase();
  const db = openDb({ url: database.urlOf('payouts'), schema: 'payouts', pool: 1, logger });
  const ledger = openDb({ url: database.urlOf('ledger'), schema: 'ledger', pool: 2, logger });
  const replicas: Interleaver = await openInterleaver(database, 'payouts');
  const batcher = holdBatcherOf({ db: ledger, clock: systemClock });

  const tellLedger = <K extends EventKind>(kind: K, payload: PayloadOf<K>): Promise<unknown> =>
    ledger.transaction((trx) =>
      handleBatch(trx, [anEventOf(kind, payload) as EventOf<EventKind>], handlers, { logger }),
    );

  return {
    /** Payouts' database. */
    db,
    /** Over it operations of payouts run in every order. */
    replicas,
    tellLedger,
    /** An account with a balance. */
    async anAccount(): Promise<AccountId> {
      const account = newAccountId(new Date());
      const deposit = { account_id: account, amount: BALANCE.toString(), outpoint: account };
      await tellLedger('deposit.settled', aSettledDeposit(deposit));
      return account;
    },
    async balanceOf(account: AccountId): Promise<{ available: bigint; held: bigint }> {
      const sql = 'select available, held from balances where account_id = $1';
      const { available, held } = await ledger.one<{ available: string; held: string }>(sql, [account]);
      return { available: BigInt(available), held: BigInt(held) };
    },
    /** What payouts has for an account with a paid invoice. The payouts are noted for which the ledger is asked for a hold. */
    portsOf(on: Db, account: AccountId, holds: string[]): Ports {
      const invoice = {
        account_id: account,
        ...{ asset: 'ETH', status: 'paid', usd_rate: '2500', currency: 'USD' },
        ...{ amount_due: PAID.toString(), paid_amount: PAID.toString() },
      };
      async function ask(command: string, request: never) {
        if (command === 'invoice.describe') return { known: true, reply: { invoice } };
        if (command === 'balance.read')
          return { known: true, reply: await readBalance({ db: ledger }, request) };
        holds.push((request as { payout_id: string }).payout_id);
        return { known: true, reply: await placeHold({ holds: batcher, logger }, request) };
      }
      return {
        db: on,
        bus: { connected: () => true, ask } as unknown as Bus,
        clock: systemClock,
        random: randomBytes,
        logger,
        throttledLog: throttledLog(logger, Date.now),
        tracer: noTracer,
        quotes,
        chains: new Map([['ethereum', chain]]),
        fiatRates: { fresh: () => undefined },
        stalled: new Map(),
        signer: { sign: async () => ({ known: false, reason: 'nothing is signed here' }) },
        settings: {
          gatewayKeys: new Map(),
          claimLinksSecret: new Secret('x'.repeat(32)),
          publicUrl: 'http://localhost',
          ...{ replica: 'one', chainWorkerEveryMs: 1_000, leaseMs: 60_000 },
          gracePeriods: { resendAfterMs: 5_000, doubtForMs: 30_000, stuckAfterMs: 180_000 },
        },
        wakeRelay: () => {},
      };
    },
    async close(): Promise<void> {
      await Promise.all([db.close(), ledger.close(), replicas.close()]);
      await database.drop();
    },
  };
}
