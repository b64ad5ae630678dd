import { expect, test } from '@jest/globals';
import { assertProperty } from '@quittance/testkit/assert-property';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import type { Quittance } from '@quittance/testkit/quittance';
import fc from 'fast-check';
import { amountForms } from '../../../packages/shared/test/amount-forms.ts';
import { sized } from '../../chain-scenarios/size.ts';
import { type Operation, operations, type Parameter } from './document.ts';
import type { Resources } from './resources.ts';
import { arbitraryOf, wrongValue } from './schema-values.ts';
import { type Sent, send } from './send.ts';

/** Requests that the reference allows, and the same with something wrong. */

type Values = Record<string, unknown>;
type Generated = Sent & { idChoice: number };

const REQUESTS = sized(250, 100_000);
const AT_ONCE = sized(25, 100);
/** At full size all are sent, however long that takes. */
const WITHIN_MS = 20_000;
const LIMIT_MS = sized(patient(60_000), 2 * 3_600_000);

/** Recipients that can be paid, and some that cannot. */
const address = fc.constantFrom(`0x${'77'.repeat(20)}`, `0x${'0'.repeat(40)}`, 'nowhere');

const fieldValue = ({ name, schema }: Pick<Parameter, 'name' | 'schema'>): fc.Arbitrary<unknown> =>
  name === 'address' ? fc.oneof(address, arbitraryOf(schema)) : arbitraryOf(schema);

function parametersOf(operation: Operation, where: Parameter['in']): fc.Arbitrary<Values> {
  const all = (operation.parameters ?? []).filter((one) => one.in === where);
  return fc.record(Object.fromEntries(all.map((one) => [one.name, fieldValue(one)])), {
    requiredKeys: all.filter((one) => one.required).map(({ name }) => name),
  }) as fc.Arbitrary<Values>;
}

function bodyOf({ requestBody }: Operation): fc.Arbitrary<unknown> {
  const schema = requestBody?.content['application/json'].schema;
  if (schema === undefined) return fc.constant(undefined);
  const fields = Object.entries(schema.properties ?? {});
  return fc.record(
    Object.fromEntries(fields.map(([name, field]) => [name, fieldValue({ name, schema: field })])),
    {
      requiredKeys: [...(schema.required ?? [])],
    },
  );
}

/** Stands in a body where the text of a number is written that no program writes. */
const WRITTEN = '@written@';

/** Changes one field: another value, none, one that is not known, or another notation. Most requests have no mistake. */
const mistake = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.nat(20),
      change: fc.constantFrom('value', 'missing', 'unknown', 'written'),
      value: wrongValue,
      written: fc.constantFrom(...amountForms.map((form) => form.written)),
    }),
  },
);
type Mistake = { field: number; change: string; value: unknown; written: string };

function spoil(values: unknown, wrong: Mistake | null): unknown {
  if (wrong === null || typeof values !== 'object' || values === null) return values;
  const names = Object.keys(values);
  const name = names[wrong.field % Math.max(1, names.length)] ?? 'unknown';
  if (wrong.change === 'missing') return { ...values, [name]: undefined };
  if (wrong.change === 'written') return { ...values, [name]: WRITTEN };
  return { ...values, [wrong.change === 'unknown' ? 'no_such_field' : name]: wrong.value };
}

const bodyText = (body: unknown, wrong: Mistake | null): string | undefined =>
  JSON.stringify(spoil(body, wrong))?.replace(`"${WRITTEN}"`, () => wrong?.written ?? '');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function queryText(values: unknown): string {
  const pairs = Object.entries(values as Values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, [value].flat().map(textOf).join(',')]);
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(Object.fromEntries(pairs) as Record<string, string>)}`;
}

/** A header has neither line ends nor letters beyond Latin-1. */
const headersOf = (values: Values): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, String(value).replace(/[^\x21-\x7e]/g, '-')]),
  );

const requestOf = (operation: Operation): fc.Arbitrary<Generated> =>
  fc
    .record({
      inPath: parametersOf(operation, 'path'),
      query: parametersOf(operation, 'query'),
      headers: parametersOf(operation, 'header'),
      body: bodyOf(operation),
      accept: fc.constantFrom('application/json', 'application/problem+json', 'text/csv', '*/*'),
      idChoice: fc.nat(3),
      wrongQuery: mistake,
      wrongBody: mistake,
    })
    .map(({ inPath, query, headers, accept, body, idChoice, wrongQuery, wrongBody }) => {
      const path = operation.path.replace(/\{(\w+)\}/, (_, name) => encodeURIComponent(String(inPath[name])));
      const text = bodyText(body, wrongBody);
      return {
        method: operation.method,
        path: `${path}${queryText(spoil(query, wrongQuery))}`,
        headers: { ...headersOf(headers), accept },
        idChoice,
        ...(text === undefined ? {} : { body: text }),
      };
    });

/** These requests have tokens, which nothing opens that needs a session. */
// What pays with test money has a faucet behind it, which has an end.
const forTokens = operations.filter(
  ({ security, tags }) => security?.[0]?.session === undefined && !tags.includes('Sandbox'),
);
const request = fc.oneof(...forTokens.map(requestOf));

export const requestsAreAnsweredAsDocumented = (
  stack: () => { quittance: Quittance; shop: Merchant; make: Resources; paid: string },
): void =>
  test(
    `${REQUESTS} requests that are generated from the reference get no 5xx and no answer beside it`,
    async () => {
      const { quittance, shop, make, paid } = stack();
      const known: Record<string, readonly string[]> = {
        inv: [await make.invoice(), paid],
        plink: [await make.link()],
        ref: [await make.claim(paid)],
        pba: [await make.batch()],
        dep: [await make.unresolved()],
        whe: [await make.endpoint()],
        dlv: [await make.delivery()],
        evt: [await make.event()],
        tok: [await make.token()],
        adr: [await make.address(), await make.address()],
        payout: [await make.payout(0.01), await make.payout(0.02), await make.waitingPayout()],
      };
      const other = await quittance.merchant();
      let sent = 0;
      const statuses = new Map<number, number>();
      const began = performance.now();

      /** Most ids name something, of this account or of another one. */
      const named = ({ path, idChoice }: Generated) =>
        path.replace(/\/([a-z]+)_[0-9a-z]{36,72}(?=[/?]|$)|\/\d+(?=[/?]|$)/, (id, prefix = 'payout') => {
          const ids = known[prefix];
          return ids === undefined || idChoice === 0 ? id : `/${ids[idChoice % ids.length]}`;
        });

      await assertProperty(
        fc.asyncProperty(fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (requests) => {
          // Most are of the account whose resources they name.
          const tokenOf = (i: number) => (i % 5 === 0 ? other : shop).token;
          const answers = await Promise.all(
            requests.map((one, i) =>
              send({ url: quittance.url, token: tokenOf(i) }, { ...one, path: named(one) }),
            ),
          );
          sent += requests.length;
          for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
          expect(answers.filter(({ status }) => status >= 500 && status !== 503)).toEqual([]);
        }),
        { least: sized(4, REQUESTS / AT_ONCE), most: REQUESTS / AT_ONCE, withinMs: WITHIN_MS },
      );
      const tally = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      const seconds = Math.round((performance.now() - began) / 1000);
      process.stdout.write(`${sent} generated requests in ${seconds} s, by status: ${tally.join(', ')}\n`);
      // Requests that are all refused would show nothing.
      expect(statuses.get(200)).toBeGreaterThan(sent / 20);
      expect(statuses.get(201)).toBeGreaterThan(0);
      expect(statuses.get(422)).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
