import { inviteAsOperator } from '@quittance/gateway/operations/operators-people';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { eventually } from '@quittance/testkit/eventually';
import type { ApiAnswer, Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import type { Receiver } from '@quittance/testkit/receiver';
import type { StoredRelease } from './stored-release.ts';

/* What a new installation is filled with before it is dumped: by its API, as merchants and customers would. */

const STEP_MS = 180_000;
const ASK_EVERY_MS = 200;
const PERSON = { email: 'anna@shop.example', password: 'three words and a comma' };
const USUAL = 'ETH';

type Order = { asset?: 'ETH' | 'BTC' } & Record<string, unknown>;
type Filled = Pick<StoredRelease, 'stoppedAt' | 'account' | 'invoices' | 'payouts' | 'endpoint'>;

/**
 * One invoice and one payout of each status, and something of the rest. Stops in the middle: Ethereum mines no more, the signer
 * does not run, and payouts was killed. Takes about two minutes, since an invoice is open for one at least.
 */
export async function fillInstallation(quittance: Quittance, receiver: Receiver): Promise<Filled> {
  const shop = await quittance.merchant('A shop');
  const { at, customers } = parts(quittance, shop);
  const { data: endpoint } = await at.made('/api/webhooks', { url: `${receiver.url}/hook` });
  await settingsOf(shop, at);
  await invitePerson(quittance, shop);
  const late = await at.invoice({ expires_in: 1 });
  const paid = {
    ETH: await at.invoice({ amount: 60_000 }),
    BTC: await at.invoice({ asset: 'BTC', amount: 60_000 }),
  };
  for (const invoice of Object.values(paid)) await at.pay(invoice);
  for (const { id } of Object.values(paid)) await at.becomes(id, 'paid');
  const part = await at.invoice();
  await at.pay(part, '0.001');
  await at.becomes(part.id, 'partially_paid');
  await at.made(`/api/invoices/${paid.ETH.id}/refunds`, { amount: 5 });
  const ended = await endPayouts(quittance, shop, at);
  await at.becomes(late.id, 'expired');
  await at.pay(late);
  await at.until(async () => (await shop.get('/api/unresolved?status=open')).body.data.length === 1);

  // From here on no block comes but the one that is named, and the shop's server refuses everything.
  receiver.answer((response) => response.writeHead(500).end());
  const seen = await at.invoice();
  await at.pay(seen);
  await customers.ETH.mine(1);
  await at.is(seen.id, 'confirmed');
  const onTheWay = await stopPayouts(quittance, shop, at);
  const open = await at.invoice({ expires_in: 120 });
  await Promise.all(Object.values(quittance.stack.services).map((service) => service?.stop()));
  return {
    stoppedAt: new Date().toISOString(),
    account: { id: shop.id, token: shop.token },
    endpoint: { id: String(endpoint.id), secret: String(endpoint.secret) },
    invoices: {
      pending: open.id,
      confirmed: seen.id,
      partially_paid: part.id,
      paid: paid.ETH.id,
      expired: late.id,
    },
    payouts: { ...ended, ...onTheWay },
  };
}

type Parts = ReturnType<typeof parts>['at'];

function parts(quittance: Quittance, shop: Merchant) {
  const customers = { ETH: quittance.ethereum, BTC: quittance.bitcoin };
  const mine = () => Promise.all([customers.ETH.mine(1), customers.BTC.mine(1)]);
  const made = async (path: string, body: object, good = 201): Promise<ApiAnswer['body']> => {
    const { status, body: answer } = await shop.post(path, body);
    if (status !== good) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const holds = (what: () => Promise<boolean>) =>
    eventually(
      async () => {
        if (!(await what())) throw new Error(`never came: ${what.toString()}`);
      },
      STEP_MS,
      ASK_EVERY_MS,
    );
  /** While blocks come. */
  const until = (what: () => Promise<boolean>) => holds(async () => Boolean(await mine()) && (await what()));
  const hasStatus = (id: string, status: string) => async () =>
    (await shop.get(`/api/invoices/${id}`)).body.status === status;
  const order = async ({ asset = USUAL, ...more }: Order = {}) => {
    return { asset, amount: '0.01', address: await customers[asset].newAddress(), ...more };
  };
  const at = {
    made,
    holds,
    until,
    order,
    becomes: (id: string, status: string) => until(hasStatus(id, status)),
    is: (id: string, status: string) => holds(hasStatus(id, status)),
    async invoice({ asset = USUAL, ...more }: Order = {}) {
      const { data } = await made('/api/invoices', { asset, amount: 25, ...more });
      return {
        asset,
        id: String(data.id),
        address: String(data.address.address),
        amount: String(data.amount),
      };
    },
    pay: (invoice: { asset: 'ETH' | 'BTC'; address: string; amount: string }, amount = invoice.amount) =>
      customers[invoice.asset].pay(invoice.asset, invoice.address, amount),
    payout: async (more?: Order) => String((await made('/api/payouts', await order(more))).data.id),
    /** By its place in the database: a merchant does not see all of them. */
    lastPayout: async () =>
      (
        await quittance.db.one<{ id: string }>(
          'select id::text from payouts.payouts order by seq desc limit 1',
        )
      ).id,
    payoutIs: (id: string, status: string) => async () =>
      (
        await quittance.db.one<{ status: string }>(
          'select status from payouts.payouts where id = $1::bigint',
          [id],
        )
      ).status === status,
  };
  return { at, customers };
}

/** What an account can have beside invoices and payouts. */
async function settingsOf(shop: Merchant, { made, order }: Parts): Promise<void> {
  await made('/api/payment-links', { description: 'Donation' });
  await made('/api/tokens', { name: 'till' });
  await made('/api/mail-recipients', { address: 'till@shop.example' });
  await made('/api/invoices', { assets: 'all', amount: 30, currency: 'EUR' });
  const { data } = await made('/api/invoices', { asset: USUAL, amount: 30 });
  await made(`/api/invoices/${data.id}/cancel`, {}, 200);
  const { address } = await order();
  await made('/api/address-book', { chain: 'ethereum', address, label: 'Treasury' });
  const settings = await shop.patch('/api/invoice-settings', { redirect_hosts: ['shop.example'] });
  if (settings.status !== 200) throw new Error(JSON.stringify(settings.body));
}

async function invitePerson({ stack, url }: Quittance, { id }: Merchant): Promise<void> {
  const logger = createLogger('release-dump', 'error');
  const db = openDb({
    url: stack.settingsOf('gateway')['DATABASE_URL'] ?? '',
    schema: 'gateway',
    pool: 1,
    logger,
  });
  const order = { account: id, email: PERSON.email, role: 'owner', actor: 'release-dump' } as const;
  const invited = await inviteAsOperator({ db, clock: systemClock }, order);
  await db.close();
  if (!invited.ok) throw new Error(`${PERSON.email} was not invited: ${invited.refusal}`);
  const send = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json', origin: new URL(url).origin };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  };
  await send('/api/invitations/accept', {
    token: invited.value.token,
    name: 'Anna',
    password: PERSON.password,
  });
  await send('/api/session', PERSON);
}

/** Payouts that have ended, each in its own way, and one that waits for an approval. */
async function endPayouts({ stack, ethereum }: Quittance, shop: Merchant, at: Parts) {
  const mined = { ETH: await at.payout(), BTC: await at.payout({ asset: 'BTC' }) };
  for (const id of Object.values(mined)) await at.until(at.payoutIs(id, 'mined'));
  await at.made('/api/payout-batches', { mode: 'each', payouts: [await at.order()] });
  await shop.post('/api/payouts', await at.order({ amount: '100000' }));
  const refused = await at.lastPayout();
  await at.holds(at.payoutIs(refused, 'refused'));
  // A contract that takes no Ether.
  const failed = await at.payout({ address: stack.nodes.ethereum.tokens.USDC_ERC20 });
  await at.until(at.payoutIs(failed, 'failed'));
  const policy = async (limits: object[]) => {
    const { status, body } = await shop.put('/api/payout-policy', { delay_hours: 0, limits });
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  await policy([{ asset: USUAL, approval_above: 0 }]);
  const waiting = await at.payout();
  await policy([]);
  // Whoever asked for it hears nothing, and nobody knows what the ledger would have said.
  await killAt(stack, 'payouts.requested');
  await ask(shop, await at.order());
  const voided = await at.lastPayout();
  await killAt(stack, undefined);
  await at.holds(at.payoutIs(voided, 'voided'));
  await ethereum.mine(1);
  return { mined: mined.ETH, refused, failed, voided, awaiting_approval: waiting };
}

/** Payouts that are on their way, each a step further than the one before. */
async function stopPayouts({ stack }: Quittance, shop: Merchant, at: Parts) {
  const broadcast = await at.payout();
  await at.holds(at.payoutIs(broadcast, 'broadcast'));
  // Signed and never sent: the process dies between the two, and the next one has no node of that chain.
  await killAt(stack, 'bitcoin.payouts.signed');
  const signed = await at.payout({ asset: 'BTC' });
  await at.holds(at.payoutIs(signed, 'signed'));
  const settings = stack.settingsOf('payouts');
  for (const name of Object.keys(settings)) if (name.startsWith('BITCOIN_')) delete settings[name];
  await killAt(stack, undefined);
  // The signer has the plan and does not answer; the next payout waits for it.
  await stack.services.signer.stop();
  const planned = await at.payout();
  await at.holds(at.payoutIs(planned, 'planned'));
  const reserved = await at.payout();
  await killAt(stack, 'payouts.requested');
  await ask(shop, await at.order());
  const requested = await at.lastPayout();
  return { broadcast, signed, planned, reserved, requested };
}

/** Its answer is lost: the gateway says that payouts does not answer. */
async function ask(shop: Merchant, order: object): Promise<void> {
  const { status, body } = await shop.post('/api/payouts', order);
  if (status < 500) throw new Error(`payouts was not killed: ${status} ${JSON.stringify(body)}`);
}

async function killAt(stack: Quittance['stack'], point: string | undefined): Promise<void> {
  const settings = stack.settingsOf('payouts');
  if (point === undefined) delete settings['CRASH_AT'];
  else settings['CRASH_AT'] = point;
  await stack.services.payouts.restart();
}
