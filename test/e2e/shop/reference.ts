import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkAnswer, checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { everyOperationWithEveryToken } from '../reference/access-matrix.ts';
import { type Operation, operations } from '../reference/document.ts';
import { requestsAreAnsweredAsDocumented } from '../reference/generated.ts';
import { type Resources, resourcesOf } from '../reference/resources.ts';
import { send } from '../reference/send.ts';
import type { OnStack } from './on-stack.ts';

/** So much that many payouts can be paid from it. */
const DOLLARS = 50_000;
const BOOKS_WITHIN_MS = 50_000;
const DAY_MS = 24 * 3_600_000;
const CANCELS_MAX = 3;

/** The reference of the API against what runs: its examples, and requests that are generated from it. */
export const referenceCases = (stack: OnStack): void =>
  describe('the reference of the API', () => {
    let quittance: Quittance;
    let receiver: Receiver;
    let shop: Merchant;
    /** Without a balance, so that a rule pays nothing out, and a policy limits nothing. */
    let beginner: Merchant;
    let make: Resources;
    let paid: string;

    beforeAll(async () => {
      quittance = stack();
      receiver = await startReceiver(checkWebhook);
      shop = await withoutLog();
      beginner = await withoutLog();
      make = resourcesOf(quittance, shop, `${receiver.url}/hook`);
      paid = await make.paidInvoice(DOLLARS);
    });
    afterAll(() => receiver?.close());

    /** Most of these requests are in no log of a client, so none of them is. */
    async function withoutLog(): Promise<Merchant> {
      const { id, token } = await quittance.merchant();
      return merchant(quittance.url, id, token, undefined, undefined, checkAnswer);
    }

    /** The ids in paths name what was made here: those of the examples are of nobody. */
    const params: Record<string, () => Promise<string>> = {
      getInvoice: () => make.invoice(),
      cancelInvoice: () => make.invoice(),
      refundInvoice: async () => paid,
      getPaymentLink: () => make.link(),
      updatePaymentLink: () => make.link(),
      deactivatePaymentLink: () => make.link(),
      getRefund: () => make.claim(paid),
      cancelRefund: () => make.claim(paid),
      getPayout: () => make.payout(0.01),
      listPayoutAttempts: () => make.payout(0.01),
      // More than the hot wallet has, so that it is not signed yet.
      cancelPayout: () => make.payout(5),
      approvePayout: () => make.waitingPayout(),
      rejectPayout: () => make.waitingPayout(),
      deleteAddress: () => make.address(),
      getPayoutBatch: () => make.batch(),
      getUnresolved: () => make.unresolved(),
      acceptUnresolved: () => make.unresolved(),
      returnUnresolved: () => make.unresolved(),
      getWebhookPublicKeys: () => make.endpoint(),
      getDelivery: () => make.delivery(),
      redeliver: () => make.delivery(),
      getEvent: () => make.event(),
      getMailRecipient: () => make.recipient(),
      updateMailRecipient: () => make.recipient(),
      deleteMailRecipient: () => make.recipient(),
      sendMailCode: () => make.recipient(),
      confirmMailRecipient: () => make.recipient(),
      testMailRecipient: () => make.confirmedRecipient(),
      getToken: () => make.token(),
      rotateToken: () => make.token(),
      revokeToken: () => make.token(),
    };

    async function pathOf({ operationId, path, parameters = [] }: Operation): Promise<string> {
      const isEndpoint = path.startsWith('/api/webhooks/{id}');
      const given = path.includes('{id}')
        ? await (isEndpoint ? make.endpoint : params[operationId])?.()
        : parameters.find((one) => one.in === 'path')?.example;
      const query = parameters.filter((one) => one.in === 'query' && one.example !== undefined);
      const search = new URLSearchParams(
        Object.fromEntries(query.map(({ name, example }) => [name, String(example)])),
      );
      return `${path.replace(/\{\w+\}/, String(given))}${query.length === 0 ? '' : `?${search}`}`;
    }

    /** The times of a replay grow old in an example, and the code of a recipient is another one each time. */
    async function bodyFor(operationId: string, path: string, example: unknown): Promise<unknown> {
      if (operationId === 'replayWebhook')
        return { from: new Date(Date.now() - DAY_MS).toISOString(), to: new Date().toISOString() };
      if (operationId === 'confirmMailRecipient')
        return { code: await make.mailCode(path.split('/')[3] ?? '') };
      return example;
    }

    // Those of people need a session: people.ts has them.
    const withToken = operations.filter(({ tags }) => !tags.includes('People'));
    test.each(withToken.map((operation) => [operation.operationId, operation] as const))(
      'the example of %s is carried out, and its answer is as documented',
      async (operationId, operation) => {
        const { method, parameters = [], requestBody } = operation;
        const example = requestBody?.content['application/json'].example;
        const headers = parameters.filter((one) => one.in === 'header' && one.example !== undefined);
        const isRule = /^\/api\/(automatic-payouts|payout-policy)/.test(operation.path);
        const sent = async () => {
          const path = await pathOf(operation);
          const body = await bodyFor(operationId, path, example);
          return await send(
            { url: quittance.url, token: (isRule ? beginner : shop).token },
            {
              method,
              path,
              headers: Object.fromEntries(headers.map(({ name, example: value }) => [name, String(value)])),
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            },
          );
        };
        let { status, body: answer } = await sent();
        // A payout that was signed meanwhile cannot be cancelled: then another one is.
        for (let tries = 1; operationId === 'cancelPayout' && status === 400 && tries < CANCELS_MAX; tries++)
          ({ status, body: answer } = await sent());
        const documented = Object.keys(operation.responses).filter((one) => one.startsWith('2'));
        expect({ status: String(status), answer }).toEqual({
          status: expect.stringMatching(new RegExp(`^(?:${documented.join('|')})$`)),
          answer: expect.anything(),
        });
      },
    );

    everyOperationWithEveryToken(() => ({ quittance, shop, make }));
    requestsAreAnsweredAsDocumented(() => ({ quittance, shop, make, paid }));

    test('every invariant holds after all of these requests', async () => {
      await eventually(
        async () => expect((await quittance.books()).discrepancies).toEqual([]),
        BOOKS_WITHIN_MS,
      );
    });
  });
