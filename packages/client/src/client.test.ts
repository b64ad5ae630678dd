import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from '@jest/globals';
import { Quittance } from './client.ts';
import { VERSION } from './transport.ts';

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

type Schema = { $ref?: string; type?: string; properties?: Record<string, Schema>; anyOf?: Schema[] };
type Operation = {
  operationId: string;
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content: Record<string, { schema: Schema }> }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
const document: Document = JSON.parse(textOf('../../../services/gateway/openapi.json'));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, own]) => ({ method: method.toUpperCase(), path, ...own })),
);

/** What a browser makes of the options of a passkey. */
const credential = {
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  response: {},
  clientExtensionResults: {},
} as never;

/** How each operation of the reference is reached. Ids stand in the places of the path. */
const calls: Record<string, (quittance: Quittance) => unknown> = {
  listInvoices: (q) => q.invoices.list(),
  createInvoice: (q) => q.invoices.create({ asset: 'ETH', amount: '25' }),
  getInvoice: (q) => q.invoices.retrieve('{id}'),
  cancelInvoice: (q) => q.invoices.cancel('{id}'),
  getInvoiceSettings: (q) => q.invoiceSettings.retrieve(),
  updateInvoiceSettings: (q) => q.invoiceSettings.update({ currency: 'EUR' }),
  listVolume: (q) => q.volume.list({ from: new Date(0), currency: 'EUR' }),
  listPaymentLinks: (q) => q.paymentLinks.list(),
  createPaymentLink: (q) => q.paymentLinks.create({ description: 'A donation' }),
  getPaymentLink: (q) => q.paymentLinks.retrieve('{id}'),
  updatePaymentLink: (q) => q.paymentLinks.update('{id}', { max_open: 500 }),
  deactivatePaymentLink: (q) => q.paymentLinks.deactivate('{id}'),
  refundInvoice: (q) => q.refunds.create('{id}', { amount: 'all' }),
  listRefunds: (q) => q.refunds.list(),
  getRefund: (q) => q.refunds.retrieve('{id}'),
  cancelRefund: (q) => q.refunds.cancel('{id}'),
  returnUnresolved: (q) => q.unresolved.return('{id}', { claim: true }),
  listPayouts: (q) => q.payouts.list(),
  createPayout: (q) => q.payouts.create({ asset: 'ETH', amount: '0.5', address: '0x1' }),
  quotePayout: (q) => q.payouts.quote({ asset: 'ETH', amount: 'max' }),
  getPayout: (q) => q.payouts.retrieve('{id}'),
  cancelPayout: (q) => q.payouts.cancel('{id}'),
  approvePayout: (q) => q.payouts.approve('{id}'),
  rejectPayout: (q) => q.payouts.reject('{id}'),
  getPayoutPolicy: (q) => q.payoutPolicy.retrieve(),
  putPayoutPolicy: (q) => q.payoutPolicy.put({ allow_list: true, limits: [{ asset: 'ETH', per_24h: '5' }] }),
  listPayoutAttempts: (q) => q.payouts.attempts('{id}'),
  listHaltedAssets: (q) => q.payouts.haltedAssets(),
  listAddressBook: (q) => q.addressBook.list(),
  addAddress: (q) => q.addressBook.add({ chain: 'ethereum', address: '0x1', label: 'Treasury' }),
  deleteAddress: (q) => q.addressBook.delete('{id}'),
  listPayoutBatches: (q) => q.payoutBatches.list(),
  createPayoutBatch: (q) => q.payoutBatches.create({ mode: 'each', payouts: [] }),
  getPayoutBatch: (q) => q.payoutBatches.retrieve('{id}'),
  listAutomaticPayouts: (q) => q.automaticPayouts.list(),
  putAutomaticPayout: (q) => q.automaticPayouts.put('{asset}', { address: '0x1', schedule: 'daily' }),
  deleteAutomaticPayout: (q) => q.automaticPayouts.delete('{asset}'),
  listBalances: (q) => q.balances.list(),
  listBalanceTransactions: (q) => q.balanceTransactions.list(),
  getStatement: (q) => q.statements.retrieve({ month: '2026-11', asset: 'BTC' }),
  listAssets: (q) => q.assets.list(),
  listUnresolved: (q) => q.unresolved.list(),
  getUnresolved: (q) => q.unresolved.retrieve('{id}'),
  acceptUnresolved: (q) => q.unresolved.accept('{id}'),
  listTokens: (q) => q.tokens.list(),
  getToken: (q) => q.tokens.retrieve('{id}'),
  createToken: (q) => q.tokens.create({ name: 'till', scopes: ['invoices:write'] }),
  rotateToken: (q) => q.tokens.rotate('{id}', { overlap_hours: 1 }),
  revokeToken: (q) => q.tokens.revoke('{id}'),
  listRequests: (q) => q.requests.list(),
  listAuditLog: (q) => q.auditLog.list(),
  listWebhooks: (q) => q.webhooks.list(),
  createWebhook: (q) => q.webhooks.create({ url: 'https://shop.example/hook' }),
  getWebhook: (q) => q.webhooks.retrieve('{id}'),
  updateWebhook: (q) => q.webhooks.update('{id}', { enabled: true }),
  deleteWebhook: (q) => q.webhooks.delete('{id}'),
  enableWebhook: (q) => q.webhooks.enable('{id}'),
  disableWebhook: (q) => q.webhooks.disable('{id}'),
  rotateWebhookSecret: (q) => q.webhooks.rotate('{id}'),
  testWebhook: (q) => q.webhooks.test('{id}'),
  getWebhookPublicKeys: (q) => q.webhooks.publicKeys('{id}'),
  replayWebhook: (q) => q.webhooks.replay('{id}', { from: new Date(0), to: new Date() }),
  listDeliveries: (q) => q.deliveries.list('{id}'),
  getDelivery: (q) => q.deliveries.retrieve('{id}'),
  redeliver: (q) => q.deliveries.redeliver('{id}'),
  listEvents: (q) => q.events.list(),
  streamEvents: (q) => q.events.follow({ after: 1 }).next(),
  getEvent: (q) => q.events.retrieve('{id}'),
  listMailRecipients: (q) => q.mailRecipients.list(),
  createMailRecipient: (q) => q.mailRecipients.create({ address: 'till@shop.example' }),
  getMailRecipient: (q) => q.mailRecipients.retrieve('{id}'),
  updateMailRecipient: (q) => q.mailRecipients.update('{id}', { kinds: ['paid'] }),
  deleteMailRecipient: (q) => q.mailRecipients.delete('{id}'),
  sendMailCode: (q) => q.mailRecipients.sendCode('{id}'),
  confirmMailRecipient: (q) => q.mailRecipients.confirm('{id}', '7K3M-Q0XA-2B9D'),
  testMailRecipient: (q) => q.mailRecipients.test('{id}'),
  signIn: (q) => q.sessions.signIn({ email: 'ada@shop.example', password: 'correct horse' }),
  beginPasskeySignIn: (q) => q.sessions.passkeyOptions(),
  signInWithPasskey: (q) => q.sessions.signInWithPasskey({ credential }),
  stepUp: (q) => q.sessions.stepUp({ password: 'correct horse' }),
  beginPasskeyStepUp: (q) => q.sessions.stepUpOptions(),
  stepUpWithPasskey: (q) => q.sessions.stepUpWithPasskey(credential),
  listSessions: (q) => q.sessions.list(),
  endSession: (q) => q.sessions.end('{id}'),
  endOtherSessions: (q) => q.sessions.endOthers(),
  getMe: (q) => q.me.retrieve(),
  changePassword: (q) =>
    q.me.changePassword({ current_password: 'correct horse', password: 'battery staple' }),
  beginTotp: (q) => q.me.beginTotp(),
  confirmTotp: (q) => q.me.confirmTotp('123456'),
  removeTotp: (q) => q.me.removeTotp(),
  replaceRecoveryCodes: (q) => q.me.replaceRecoveryCodes(),
  listPasskeys: (q) => q.me.passkeys(),
  beginPasskey: (q) => q.me.beginPasskey(),
  addPasskey: (q) => q.me.addPasskey({ name: 'My phone', credential }),
  renamePasskey: (q) => q.me.renamePasskey('{id}', 'My phone'),
  removePasskey: (q) => q.me.removePasskey('{id}'),
  listPeople: (q) => q.people.list(),
  changeRole: (q) => q.people.changeRole('{id}', 'viewer'),
  removePerson: (q) => q.people.remove('{id}'),
  listInvitations: (q) => q.invitations.list(),
  invite: (q) => q.invitations.create({ email: 'bob@shop.example', role: 'developer' }),
  withdrawInvitation: (q) => q.invitations.withdraw('{id}'),
  payInSandbox: (q) => q.sandbox.pay({ asset: 'ETH', address: '0x1', amount: '0.1' }),
  acceptInvitation: (q) => q.invitations.accept({ token: 'qi_1' }),
};

const files: Record<string, (quittance: Quittance) => Promise<ReadableStream<Uint8Array> | string>> = {
  listInvoices: (q) => q.invoices.csv(),
  listPayouts: (q) => q.payouts.csv(),
  listUnresolved: (q) => q.unresolved.csv(),
  listAuditLog: (q) => q.auditLog.csv(),
  listBalanceTransactions: (q) => q.balanceTransactions.csv(),
  getStatement: (q) => q.statements.text('csv', { month: '2026-11', asset: 'BTC' }),
};

const WANTED = { id: 'what the API answers', sequence: 2 };
/** What is answered where there is nothing to give back. */
const SAID = { message: 'Done.' };
const meta = { has_more: false, next_after: 1, first_sequence: 1, last_sequence: 1, next_before: null };
const list = { data: [WANTED], links: { next: null }, meta, has_more: false };

/** What stands behind a reference. Where an answer has several forms, all are wrapped in the same way. */
function resolved(schema: Schema): Schema {
  const inner = schema.anyOf?.[0] ?? document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''];
  return inner === undefined ? schema : resolved(inner);
}

/** An answer as the reference wraps it: events have a member `data` of their own. */
function answerOf({ responses }: Operation): object {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const { properties = {} } = resolved(success?.content['application/json']?.schema ?? {});
  const { data, event, public_keys } = properties;
  if (Object.keys(properties).join() === 'message') return SAID;
  if (public_keys !== undefined) return { public_keys: WANTED };
  if (data === undefined || event !== undefined) return WANTED;
  return resolved(data).type === 'array' ? list : { data: WANTED };
}

/** A client whose requests are all answered by `answer`. */
function recording(answer: object | string) {
  const asked: { method: string; path: string; headers: Record<string, string>; body: string | undefined }[] =
    [];
  const fetched = async (url: string, request: Omit<(typeof asked)[number], 'path'>) => {
    const { pathname } = new URL(url);
    asked.push({ ...request, path: decodeURIComponent(pathname) });
    if (pathname.endsWith('/stream')) return new Response(`id: 2\ndata: ${JSON.stringify(WANTED)}\n\n`);
    if (pathname === '/api/events') return Response.json({ ...list, data: [], meta });
    return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
  const options = { url: 'https://pay.example', token: 'qt_1', fetch: fetched as unknown as typeof fetch };
  return { asked, quittance: new Quittance(options) };
}

test('every operation of the reference is reached through the client', () => {
  expect(Object.keys(calls).toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
});

describe('a method of the client', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    'sends %s as the reference has it, and unwraps its answer',
    async (id, operation) => {
      const wanted = answerOf(operation);
      const { asked, quittance } = recording(wanted);
      const answer = await calls[id]?.(quittance);
      const last = asked.at(-1);
      expect(last).toMatchObject({ method: operation.method, path: operation.path });
      const takesKey = operation.parameters?.some(({ name }) => name === 'Idempotency-Key') === true;
      expect(last?.headers['Idempotency-Key'] !== undefined).toBe(takesKey);
      if (operation.method === 'DELETE' || wanted === SAID) return expect(answer).toBeUndefined();
      if (id === 'listEvents') return expect(answer).toMatchObject({ data: [], has_more: false });
      if (id === 'streamEvents') return expect(answer).toEqual({ done: false, value: WANTED });
      if (!id.startsWith('list')) return expect(answer).toEqual(WANTED);
      expect(Array.isArray(answer) ? answer : (answer as { data: object[] }).data).toEqual([WANTED]);
    },
  );

  it('asks for a file wherever the reference has one', async () => {
    const withFiles = operations.filter(
      ({ responses }) => responses['200']?.content['text/csv'] !== undefined,
    );
    expect(withFiles.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(files).toSorted());
    for (const { operationId, path } of withFiles) {
      const { asked, quittance } = recording('a file');
      const file = await files[operationId]?.(quittance);
      expect(typeof file === 'string' ? file : await new Response(file).text()).toBe('a file');
      expect(asked).toMatchObject([{ path, headers: { Accept: 'text/csv' } }]);
    }
  });

  it('sends a batch as a file', async () => {
    const { asked, quittance } = recording({ data: WANTED });
    const csv = 'asset,amount,address\nETH,1,0x1\n';
    expect(await quittance.payoutBatches.createFromCsv(csv, { mode: 'each' })).toEqual(WANTED);
    expect(asked).toMatchObject([
      { path: '/api/payout-batches', body: csv, headers: { 'Content-Type': 'text/csv' } },
    ]);
    expect(asked[0]?.headers['Idempotency-Key']).toBeDefined();
  });
});

test('the version is that of the package', () => {
  expect(JSON.parse(textOf('../package.json')).version).toBe(VERSION);
});

/** What a strict compiler knows of the answers. It is compiled, and never run. */
export async function typesOfAnswers(quittance: Quittance): Promise<unknown> {
  const made = await quittance.invoices.create({ asset: 'ETH', amount: '25' });
  const { address, amount }: { address: { address: string }; amount: string } = made;
  const open = await quittance.invoices.create({ assets: 'all', amount: 25, currency: 'EUR' });
  // @ts-expect-error -- the payer has not chosen the asset, so that there is no address
  open.address.address;
  // @ts-expect-error -- a misspelt asset
  await quittance.invoices.create({ asset: 'ETHER', amount: 25 });
  // The data of an event is known by its type.
  for await (const event of quittance.events.follow({ kinds: ['invoice.paid'] }))
    if (event.event === 'invoice.paid') return event.data.paid_amount;
    else if (event.event === 'payout.failed') return event.data.failed_reason;
  return [address, amount];
}
