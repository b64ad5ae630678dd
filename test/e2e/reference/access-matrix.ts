import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import {
  ANY_TOKEN,
  holds,
  type Scope,
  scopeNames,
  scopeOfOperation,
} from '../../../services/gateway/src/domain/scopes.ts';
import { type Operation, operations } from './document.ts';
import type { Resources } from './resources.ts';
import { type Got, send } from './send.ts';

/** Every operation with every kind of token: none, an unknown one, each scope, all scopes, and one of another account. */

type Shared = { quittance: Quittance; shop: Merchant; make: Resources };

/** In the form of the gateway's table: `GET /api/invoices/:id`. */
const nameOf = ({ method, path }: Operation): string => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`;
/** Not those of people: what needs a session no token opens, see services/gateway/test/roles.test.ts. */
const needsToken = operations.filter(({ security }) => security?.[0]?.token !== undefined);
/** As the reference tells it, so that the gateway's table is compared with it. */
const scopeOf = ({ security }: Operation): Scope | typeof ANY_TOKEN => security?.[0]?.token?.[0] ?? ANY_TOKEN;

const UNKNOWN_TOKEN = `qt_${'0'.repeat(64)}`;
/** So that the requests without a token are not counted for the address of other cases. */
const addressOf = (place: number) => ({
  'X-Forwarded-For': `10.1.${Math.floor(place / 250)}.${1 + (place % 250)}`,
});

const unauthenticated = { status: 401, body: { message: 'Unauthenticated.' } };
const forbidden = { status: 403, body: { message: 'This action is unauthorized.' } };
const missing = (scope: string) => ({
  status: 403,
  body: { code: 'missing_scope', message: `The API token has not the scope ${scope}.` },
});

export const everyOperationWithEveryToken = (shared: () => Shared): void =>
  describe('every operation with every kind of token', () => {
    const ids = new Map<string, string>();
    const tokens = new Map<Scope, string>();
    let allScopes: string;
    let stranger: Merchant;

    beforeAll(async () => {
      const { quittance, shop, make } = shared();
      stranger = await quittance.merchant();
      const tokenWith = async (scopes: readonly Scope[]) =>
        String((await shop.post('/api/tokens', { name: 'of the matrix', scopes })).body.data.token);
      for (const scope of scopeNames) tokens.set(scope, await tokenWith([scope]));
      allScopes = await tokenWith(scopeNames);
      const paid = make.paidInvoice(30);
      const made: [string, string | Promise<string>][] = [
        ['invoices', paid],
        ['payment-links', make.link()],
        ['refunds', paid.then((id) => make.claim(id))],
        ['unresolved', make.unresolved()],
        // In one after the other: the policy changes for it.
        ['payouts', make.payout(0.01).then(() => make.waitingPayout())],
        ['payout-batches', make.batch()],
        ['address-book', make.address()],
        ['webhooks', make.endpoint()],
        ['deliveries', make.delivery()],
        ['events', make.event()],
        ['mail-recipients', make.recipient()],
        ['tokens', tokenToChange()],
        ['automatic-payouts', 'USDC_ERC20'],
      ];
      await Promise.all(made.map(async ([kind, id]) => ids.set(kind, await id)));
    });

    /** It may do less than each token that may change it. */
    async function tokenToChange(): Promise<string> {
      const made = await shared().shop.post('/api/tokens', { name: 'till', scopes: ['tokens:write'] });
      return String(made.body.data.id);
    }

    /** What is deleted or replaced is made for the request that does so; each other one names what all do. */
    async function idFor({ method, path }: Operation, isCarriedOut: boolean): Promise<string> {
      const { make, shop } = shared();
      const [, , kind = ''] = path.split('/');
      if (isCarriedOut && method === 'DELETE' && kind === 'automatic-payouts') {
        const rule = { address: `0x${'77'.repeat(20)}`, schedule: 'threshold', threshold: 500 };
        expect((await shop.put('/api/automatic-payouts/USDC_ERC20', rule)).status).toBe(200);
      }
      if (isCarriedOut && method === 'DELETE' && kind === 'webhooks') return await make.endpoint();
      if (isCarriedOut && method === 'DELETE' && kind === 'address-book') return await make.address();
      if (isCarriedOut && method === 'DELETE' && kind === 'mail-recipients') return await make.recipient();
      if (isCarriedOut && method !== 'GET' && kind === 'tokens') return await tokenToChange();
      const id = ids.get(kind);
      if (id === undefined) throw new Error(`the matrix has no resource for ${method} ${path}`);
      return id;
    }

    /** How many requests were sent: each comes from an address of its own. */
    let sent = 0;
    /** With the body of the reference's example, or with an empty one, which moves no money. */
    async function ask(
      operation: Operation,
      token: string | undefined,
      { isCarriedOut = false, withExample = false } = {},
    ): Promise<Got> {
      const { method, requestBody } = operation;
      const path = operation.path.includes('{')
        ? operation.path.replace(/\{\w+\}/, await idFor(operation, isCarriedOut))
        : operation.path;
      const example = requestBody?.content['application/json'].example ?? {};
      sent += 1;
      return await send(
        { url: shared().quittance.url, token },
        {
          method,
          path,
          headers: addressOf(sent),
          ...(method === 'GET' || method === 'DELETE'
            ? {}
            : { body: JSON.stringify(withExample ? example : {}) }),
        },
      );
    }

    const expectThrough = (token: string, { status, body }: Got) =>
      expect([token, status, [401, 403, 404].includes(status), body?.message]).toEqual([
        token,
        status,
        false,
        body?.message,
      ]);

    test('the table of the gateway and the reference have the same operations, which are all asked here', () => {
      expect(needsToken.map(nameOf).sort()).toEqual(Object.keys(scopeOfOperation).sort());
    });

    test.each(needsToken.map((operation) => [nameOf(operation), operation] as const))(
      '%s is open to the tokens that have its scope, and to no other',
      async (_, operation) => {
        const needed = scopeOf(operation);
        expect(await ask(operation, undefined)).toMatchObject(unauthenticated);
        expect(await ask(operation, UNKNOWN_TOKEN)).toMatchObject(unauthenticated);
        const isEnough = (scope: Scope) => needed === ANY_TOKEN || holds([scope], needed);
        const refused = [...tokens].filter(([scope]) => !isEnough(scope));
        const answers = await Promise.all(refused.map(([, token]) => ask(operation, token)));
        for (const [at, got] of answers.entries())
          expect([refused[at]?.[0], got]).toMatchObject([refused[at]?.[0], missing(needed)]);
        const isCarriedOut = true;
        // One after the other: some change what they are about.
        for (const [scope, token] of tokens)
          if (isEnough(scope)) expectThrough(scope, await ask(operation, token, { isCarriedOut }));
        expectThrough('all scopes', await ask(operation, allScopes, { isCarriedOut }));
        const { token } = shared().shop;
        expectThrough('a token without named scopes', await ask(operation, token, { isCarriedOut }));
      },
    );

    test.each(needsToken.map((operation) => [nameOf(operation), operation] as const))(
      '%s gives another account nothing of this one',
      async (name, operation) => {
        const got = await ask(operation, stranger.token, { withExample: true });
        if (name.includes('/:id')) return expect(got).toMatchObject(forbidden);
        // What is not about one resource is about those of the account that asks.
        const text = JSON.stringify(got.body);
        expect(
          [...ids].filter(([kind, id]) => kind !== 'automatic-payouts' && text.includes(`"${id}"`)),
        ).toEqual([]);
        expect(text).not.toContain(shared().shop.id);
        expect(got.status).not.toBe(401);
      },
    );
  });
