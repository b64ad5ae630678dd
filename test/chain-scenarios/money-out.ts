import { expect } from '@jest/globals';
import { configSchema } from '@quittance/payouts/config';
import { type PayoutsService, startPayouts } from '@quittance/payouts/service';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { connectBus } from '@quittance/shared/bus';
import { loadConfig } from '@quittance/shared/config';
import { type AccountId, newAccountId } from '@quittance/shared/ids';
import { api } from '@quittance/testkit/api';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import { eventually } from '@quittance/testkit/eventually';
import { hotAddressesOf, signerOfPhrase } from '@quittance/testkit/scripted-signer';
import { logger, SEED, startFixture, type Terms } from './fixture.ts';

/** Money of a merchant's customer that lies on one of our addresses and is final. */
export type Deposit = {
  asset: AssetSymbol;
  amount: bigint;
  address: string;
  index: number;
  outpoint: string;
  height: number;
  blockHash: string;
};

export type Payout = { id: number; asset: AssetSymbol; amount: bigint; to: string };
/** A payment as the chain tells it. */
export type Paid = { asset: AssetSymbol; amount: bigint; txHash: string };
type Ended = Payout & { status: string; txHash: string | null };

export type MoneyOut = Awaited<ReturnType<typeof startMoneyOut>>;

/** Everything money leaves through: payouts, working by itself, and the ledger, over the nodes that `settings` name. */
export async function startMoneyOut(terms: Terms, settings: Record<string, string>) {
  const fixture = await startFixture(terms);
  const { db } = fixture;
  const config = loadConfig('payouts', configSchema, {
    ...fixture.settingsOf('payouts'),
    ...hotAddressesOf(SEED),
    CLAIM_LINKS_SECRET: 'c'.repeat(32),
    PAYOUTS_EVERY_MS: '100',
    ...settings,
  });
  const payouts: PayoutsService = await startPayouts(
    { ...config, PORT: 0 },
    { logger, quotes: fixture.quotes, signer: signerOfPhrase(config.chains, SEED) },
  );
  const invoices = await connectBus({ url: fixture.natsUrl, service: 'invoices', logger });

  /** What invoices says of money that is final; the ledger and the treasury have taken it in when this ends. */
  async function credit(account: AccountId, deposit: Deposit): Promise<void> {
    const { asset, amount, address, index, outpoint, height, blockHash } = deposit;
    const { chain } = assets[asset];
    const payload = aSettledDeposit({
      account_id: account,
      invoice_id: 'inv_of_a_proof',
      asset,
      amount: amount.toString(),
      address,
      derivation_index: index,
      outpoint,
      tx_hash: outpoint.split(':')[0] ?? null,
      block_height: height,
      block_hash: blockHash,
    });
    const envelope = anEventOf('deposit.settled', payload);
    const { id } = envelope;
    await eventually(async () => {
      const [stored] = await invoices.publish([
        { kind: 'deposit.settled', dedupe: id, body: JSON.stringify(envelope) },
      ]);
      if (stored !== true) throw new Error(`the bus does not take a deposit on ${chain}`);
    });
    await eventually(async () => {
      const { n } = await db.one<{ n: number }>(
        `select (select count(*) from ledger.inbox where event_id = $1)::int +
                (select count(*) from payouts.inbox where event_id = $1)::int as n`,
        [id],
      );
      if (n !== 2) throw new Error('a deposit was not taken in');
    });
  }

  return {
    ...fixture,
    credit,
    newAccount: (): AccountId => newAccountId(new Date()),
    /** Asks for a payout of `amount`, decimal text of `units`. */
    async payout(account: AccountId, order: Omit<Payout, 'id'> & { text: string }): Promise<Payout> {
      const { asset, amount, to, text } = order;
      const body = { asset, amount: text, address: to };
      const answer = await api(payouts.port, 'POST', '/api/payouts', { account, body });
      if (answer.status !== 201) throw new Error(`POST /api/payouts answers ${JSON.stringify(answer.body)}`);
      return { id: answer.body.data.id, asset, amount, to };
    },
    /** How many payouts have not come to their end. */
    async pending(): Promise<number> {
      const { n } = await db.one<{ n: number }>(
        `select count(*)::int as n from payouts.payouts where status in ('requested', 'reserved', 'planned', 'signed', 'broadcast')`,
      );
      return n;
    },
    async ended(given: readonly Payout[]): Promise<Ended[]> {
      const rows = await db.rows<{ id: string; status: string; tx_hash: string | null }>(
        'select id::text, status, tx_hash from payouts.payouts where id = any($1::bigint[])',
        [given.map(({ id }) => id)],
      );
      const byId = new Map(rows.map((row) => [row.id, row]));
      return given.map((one) => {
        const row = byId.get(String(one.id));
        return { ...one, status: row?.status ?? 'unknown', txHash: row?.tx_hash ?? null };
      });
    },
    /** Everything that was asked for is signed, and was sent: whether it arrived may not be known. */
    handedOut: () =>
      eventually(async () => {
        const { n } = await db.one<{ n: number }>(
          `select (select count(*) from payouts.payouts where status in ('requested', 'reserved', 'planned'))::int +
                  (select count(*) from payouts.transactions where broadcasts = 0)::int as n`,
        );
        if (n > 0) throw new Error(`${n} payouts and transactions are not sent`);
      }),
    /** What was signed for payouts, by the hash of each transaction. */
    async signed(): Promise<Map<string, string>> {
      const rows = await db.rows<{ tx_hash: string; raw: string }>(
        `select tx_hash, raw from payouts.transactions where purpose = 'payout' order by nonce, replacement_group, attempt`,
      );
      return new Map(rows.map(({ tx_hash, raw }) => [tx_hash, raw]));
    },
    /** Each payout is mined, and the chain has exactly its payment. */
    async expectPaidOnce(payouts: readonly Payout[], paid: ReadonlyMap<string, readonly Paid[]>) {
      for (const { to, asset, amount, status, txHash } of await this.ended(payouts)) {
        const payment = { asset, amount, txHash };
        expect({ to, status, paid: paid.get(to) }).toEqual({ to, status: 'mined', paid: [payment] });
      }
      expect(await fixture.discrepancies(['I1', 'I2', 'I3', 'I4'])).toEqual([]);
    },
    /** Steps until every payout has ended, and the ledger has heard how. */
    async untilEnded(step: () => Promise<unknown>, limitMs: number, everyMs: number): Promise<void> {
      const look = async () => {
        await step();
        expect(await this.pending()).toBe(0);
      };
      await eventually(look, limitMs, everyMs);
      await this.heard();
    },
    /** The ledger has heard how every payout ended. */
    heard: () =>
      eventually(async () => {
        const { n } = await db.one<{ n: number }>(
          `select count(*)::int as n from payouts.outbox o
           where o.kind in ('hold.settle', 'hold.release', 'hold.void', 'network.spent')
             and not exists (select 1 from ledger.inbox i where i.event_id = o.id)`,
        );
        if (n > 0) throw new Error(`${n} events have not reached the ledger`);
      }),
    async stop() {
      await payouts.stop();
      await invoices.close();
      await fixture.stop();
    },
  };
}
