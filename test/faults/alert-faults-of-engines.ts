import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { asAdmin } from '@quittance/shared/database-roles';
import { type AlertFault, lasting, older, service } from './alert-fault.ts';
import type { AlertFixture } from './alert-fixture.ts';
import { recurring } from './recurring.ts';

const GUESSES_EVERY_MS = 100;
const SLOW_MS = 1_500;
const LAG_MS = 200;

const guesses = (fixture: AlertFixture) =>
  recurring(
    () => fetch(`${fixture.quittance.url}/api/balances`, { headers: { authorization: 'Bearer guessed' } }),
    GUESSES_EVERY_MS,
  );

/** Somebody's transaction holds a lock on a table for seconds, again and again. */
const locks = ({ quittance, shop }: AlertFixture) =>
  recurring(
    () =>
      asAdmin(quittance.stack.adminUrl, async (client) => {
        await client.query('begin');
        await client.query('lock table invoices.payment_links in access exclusive mode');
        const asked = shop.get('/api/payment-links');
        await sleep(SLOW_MS);
        await client.query('rollback');
        await asked;
      }),
    0,
  );

const overload = (fixture: AlertFixture) =>
  recurring(async () => {
    service(fixture, 'payouts').pause();
    await sleep(LAG_MS);
    service(fixture, 'payouts').resume();
  }, LAG_MS);

let prices = '';

export const ofEngines: readonly AlertFault[] = [
  {
    fault: 'an event is on the bus that cannot be read',
    fires: [{ alert: 'DeadLetters', labels: { job: 'ledger' } }],
    begin: (fixture) =>
      fixture.as('invoices', (bus) =>
        bus.publish([{ kind: 'deposit.settled', dedupe: 'unreadable', body: 'not JSON' }]),
      ),
    async end({ quittance }) {
      for (const receiver of ['ledger', 'payouts'])
        await quittance.db.rows(`delete from ${receiver}.dead_letters`);
    },
  },
  {
    fault: 'payouts asks for a hold that nobody has requested',
    fires: [{ alert: 'HoldsNotAskedFor' }],
    begin: (fixture) =>
      fixture.as('payouts', (bus) =>
        bus.ask('hold.place', {
          ...{ payout_id: '900000', account_id: fixture.shop.id, asset: 'ETH', amount: '1' },
          ...{ network_fee: '0', deposit_id: null },
        } as never),
      ),
    end: () => undefined,
  },
  {
    fault: 'somebody tries one token after the other',
    fires: [{ alert: 'TokensGuessed' }],
    ...lasting(guesses),
  },
  {
    fault: 'Redis is stopped',
    fires: [{ alert: 'RedisDown' }],
    begin: ({ quittance }) => quittance.stack.engines.redis?.stop(),
    end: ({ quittance }) => quittance.stack.engines.redis?.restart(),
  },
  {
    fault: 'no source has a rate of an asset and of a currency',
    fires: [
      { alert: 'QuoteOld', labels: { asset: 'USDC_ERC20' } },
      { alert: 'FiatRateOld', labels: { currency: 'EUR' } },
    ],
    async begin(fixture) {
      const { pricesFile } = fixture.quittance.stack;
      prices = readFileSync(pricesFile, 'utf8');
      const { USDC_ERC20: _asset, EUR: _currency, ...others } = JSON.parse(prices) as Record<string, string>;
      writeFileSync(pricesFile, JSON.stringify(others));
      await older(fixture, 'ledger.quotes', 'as_of', '2 minutes', `asset in ('USDC_ERC20', 'EUR')`);
    },
    end: ({ quittance }) => writeFileSync(quittance.stack.pricesFile, prices),
  },
  {
    fault: 'a transaction of somebody holds a lock',
    fires: [{ alert: 'Slow', labels: { job: 'invoices', route: '/api/payment-links' } }],
    ...lasting(locks),
  },
  {
    fault: 'payouts gets no time of the processor',
    fires: [{ alert: 'EventLoopLags', labels: { job: 'payouts' } }],
    ...lasting(overload),
  },
  {
    fault: 'one of three nodes is down',
    fires: [{ alert: 'ChainNodeLeftOut', labels: { chain: 'ethereum' } }],
    begin: ({ ways }) => ways.invoices[2]?.set({ kind: 'refuse' }),
    end: ({ ways }) => ways.invoices[2]?.set({ kind: 'pass' }),
  },
];
