import { afterAll, beforeEach, expect } from '@jest/globals';
import { newInvoiceId, type PayoutId, type RefundId } from '@quittance/shared/ids';
import { recordDeposits } from '../src/handlers.ts';
import { movePayout } from '../src/store/payouts.ts';
import { aDeposit, type DepositPayload } from './deposit-event.ts';
import { type Described, scriptedInvoices } from './scripted-invoices.ts';
import { type RequestsFixture, requestsSuite } from './service-fixture.ts';

export const FINNEY = 10n ** 15n;

/** For one suite: two replicas of the service, with invoices that the test scripts, and steps on refunds. */
export function refundsSuite() {
  const at = {} as { fixture: RequestsFixture; invoices: Awaited<ReturnType<typeof scriptedInvoices>> };
  // Before the fixture's own, which stops NATS.
  afterAll(() => at.invoices?.close());
  at.fixture = requestsSuite();
  beforeEach(async () => {
    if (at.invoices === undefined) {
      at.invoices = await scriptedInvoices(at.fixture.nats.url);
      await at.fixture.start();
    }
    at.invoices.isSilent = false;
    at.fixture.board.set('ETH', {});
    at.fixture.board.fiatRates.clear();
    at.fixture.ledger.accepted.clear();
    at.fixture.ledger.available = (1_000n * FINNEY).toString();
  });

  /** 100 dollars at 2,500 dollars for an ether: 0.04 are due, and 0.05 were paid. */
  function anInvoice({ status = 'paid', ...others }: Partial<Described> = {}): string {
    const id = newInvoiceId();
    at.invoices.invoices.set(id, {
      account_id: at.fixture.shop.account,
      asset: 'ETH',
      status,
      amount_due: (40n * FINNEY).toString(),
      paid_amount: (50n * FINNEY).toString(),
      usd_rate: '2500',
      currency: 'USD',
      ...others,
    });
    return id;
  }

  const refund = (id: string, body: object, headers = {}, client = at.fixture.shop) =>
    client.post(body, headers, `/api/invoices/${id}/refunds`);

  let made = 0;
  type Given = Partial<Pick<DepositPayload, 'asset' | 'disposition'>> & { amount?: bigint };
  /** An unresolved deposit of 10 finneys unless others are given, of which payouts has got no event. */
  function untold(given: Given = {}): DepositPayload {
    made += 1;
    const place = {
      address: `0x${made.toString(16).padStart(40, 'e')}`,
      outpoint: `0xc${made}:0`,
      index: made,
    };
    const ofShop = { account_id: at.fixture.shop.account, asset: 'ETH', disposition: 'unresolved' } as const;
    return aDeposit({ ...ofShop, amount: 10n * FINNEY, ...place, ...given });
  }
  const tell = (payload: DepositPayload) =>
    at.fixture.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
  async function deposit(given?: Given): Promise<DepositPayload> {
    const payload = untold(given);
    await tell(payload);
    return payload;
  }

  let turn = 0;
  return Object.assign(at, {
    anInvoice,
    refund,
    ...{ untold, tell, deposit },
    aDepositToReturn: async () => (await deposit()).deposit_id,
    giveBack: (id: string, body: object, headers = {}, client = at.fixture.shop) =>
      client.post(body, headers, `/api/unresolved/${id}/return`),
    shown: async (id: string) => (await at.fixture.shop.get(`/api/refunds/${id}`)).body,
    cancel: (id: string) => at.fixture.shop.post({}, {}, `/api/refunds/${id}/cancel`),
    /** A claim link of an invoice. */
    async aLink(body: object = { amount: 'all' }, invoice = anInvoice()) {
      const answer = await refund(invoice, body);
      expect(answer.status).toBe(201);
      const { claim_url, id } = answer.body.data;
      return { refundId: id as RefundId, invoice, token: String(claim_url).split('/').at(-1) ?? '' };
    },
    /** Opens the page of a link, or sends an address to it, on one replica after the other. */
    async page(token: string, typed?: string, headers: Record<string, string> = {}) {
      const services = at.fixture.replicas();
      const { port } = services[turn++ % services.length] as { port: number };
      const form =
        typed === undefined ? {} : { method: 'POST', body: new URLSearchParams({ address: typed }) };
      const answer = await fetch(`http://127.0.0.1:${port}/claim/${token}`, {
        ...{ redirect: 'manual', headers, ...form },
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    payoutsOf: (refundId: string) =>
      at.fixture.db.rows<{ id: PayoutId; status: string; amount: string; address: string }>(
        'select id, status, amount, address from payouts where refund_id = $1 order by seq',
        [refundId],
      ),
    fail: (id: PayoutId, failedReason = 'refused') =>
      at.fixture.db.transaction((trx) => movePayout(trx, id, ['reserved'], 'failed', { failedReason })),
    /** Lets the time of a link be over. */
    expireLink: (id: string) =>
      at.fixture.db.rows(`update refunds set expires_at = now() - interval '1 second' where id = $1`, [id]),
    /** The statuses of a refund that invoices was told of, in order. */
    async told(id: string): Promise<string[]> {
      const rows = await at.fixture.db.rows<{ status: string }>(
        `select payload->>'status' as status from outbox
         where kind = 'refund.updated' and payload->>'refund_id' = $1 order by seq`,
        [id],
      );
      return rows.map(({ status }) => status);
    },
  });
}
